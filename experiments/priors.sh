#!/bin/sh
# The priors that rivals.toml, variants.toml and single_motion.toml compare: all of one corpus, a tenth of whose clips no prior sees, all with as
# many steps. DATA is the folder that holds lafan1_g1 and g1_moves, this one unless said; interrupted, it goes on. Twenty minutes on two cores.
# Usage: experiments/priors.sh [DATA]
set -e
data=${1:-.}
pfmhr corpus build runs/priors/corpus "$data/lafan1_g1" "$data/g1_moves" --drop-jumps
train() {
    name=$1
    shift
    pfmhr prior train runs/priors/corpus -o "runs/priors/$name" --steps 4000 --held-out 0.1 --threads 1 "$@"
}
{ train clean && train limits --normalisation limits; } &
train velocity --prediction velocity && pfmhr distance train runs/priors/corpus -o runs/priors/distance --threads 1
wait $!
