/* Reads a rectangular table of decimal numbers from csv text, as fast as the text can be scanned.
 *
 * Why by hand: a corpus is hundreds of gigabytes of csv, and general csv readers spend most of their
 * time on quoting and type inference that motion files never use. Anything this scanner does not
 * understand makes it return a negative number, and the caller falls back to numpy for the verdict.
 * No Python headers: loaded through ctypes, so the GIL is free while it runs.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double POWER[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Appends the run of digits at `at` to `mantissa`; eight at a time where eight bytes can be loaded. */
static const char *digits_at(const char *at, const char *end, uint64_t *mantissa) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - at >= 8) {
        static const uint64_t SCALE[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t value = word - 0x3030303030303030u;
        uint64_t other = (value | (word + 0x4646464646464646u)) & 0x8080808080808080u;
        int count = other ? __builtin_ctzll(other) >> 3 : 8;
        if (count == 0) return at;
        value <<= 64 - 8 * count; /* leading zeros in place of what follows the digits */
        value = value * 10 + (value >> 8);
        value = ((value & 0x000000FF000000FFu) * 0x000F424000000064u +
                 ((value >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >> 32;
        *mantissa = *mantissa * SCALE[count] + value;
        at += count;
        if (count < 8) return at;
    }
#endif
    while (at < end && (unsigned char)(*at - '0') < 10) *mantissa = *mantissa * 10 + (uint64_t)(*at++ - '0');
    return at;
}

/* Parses one number at `at`. Exact: an integer below 2^53 divided by a power of ten up to 1e22 is
 * correctly rounded by IEEE division, so this equals strtod. Everything rarer goes to strtod itself. */
static const char *number(const char *at, const char *end, double *value) {
    const char *start = at;
    int negative = 0;
    if (at < end && (*at == '-' || *at == '+')) negative = (*at++ == '-');
    uint64_t mantissa = 0;
    const char *digits = at;
    if (at + 1 < end && at[1] == '.' && (unsigned char)(*at - '0') < 10)
        mantissa = (uint64_t)(*at++ - '0'); /* by far the most common: one digit before the point */
    else
        at = digits_at(at, end, &mantissa);
    ptrdiff_t count = at - digits, decimals = 0;
    if (at < end && *at == '.') {
        digits = ++at;
        at = digits_at(at, end, &mantissa);
        decimals = at - digits;
        count += decimals;
    }
    if (count == 0) return NULL; /* strtod would skip line ends, and reads nan(...): numpy decides */
    if (count > 15 || (at < end && (*at == 'e' || *at == 'E'))) {
        char *stop;
        *value = strtod(start, &stop); /* the caller's buffer ends with a zero byte */
        return (stop == start || stop > end) ? NULL : stop;
    }
    double magnitude = (double)mantissa / POWER[decimals];
    *value = negative ? -magnitude : magnitude;
    return at;
}

/* Fills out[rows * columns] (float32, row major); returns the number of rows, or -1 - row on text
 * that is not a plain table of `columns` numbers separated by commas. */
long pfmhr_parse_table(const char *text, size_t length, long columns, float *out, long max_rows) {
    const char *at = text, *end = text + length;
    long row = 0;
    while (at < end) {
        if (row >= max_rows) return -1 - row;
        for (long column = 0; column < columns; column++) {
            double value;
            while (at < end && (*at == ' ' || *at == '\t')) at++;
            if (!(at = number(at, end, &value))) return -1 - row;
            *out++ = (float)value;
            while (at < end && (*at == ' ' || *at == '\t')) at++;
            if (column + 1 < columns) {
                if (at >= end || *at != ',') return -1 - row;
                at++;
            }
        }
        if (at < end && *at == '\r') at++;
        if (at < end && *at++ != '\n') return -1 - row;
        row++;
    }
    return row;
}
