#!/bin/sh
# The priors that rivals.toml and single_motion.toml compare, all of one corpus and with as many steps: the corpus has none of the clips that are
# tracked there, and a tenth of its clips no prior sees. DATA is the folder that holds lafan1_g1 and g1_moves, this one unless said. Interrupted, it
# goes on. Twenty minutes on two cores.
# Usage: experiments/priors.sh [DATA]
set -e
data=${1:-.}
set -- "$data/g1_moves"
for clip in "$data"/lafan1_g1/*; do
    case $clip in
        */jumps1_subject1.* | */dance1_subject1.*) ;;
        *) set -- "$@" "$clip" ;;
    esac
done
pfmhr corpus build runs/priors/corpus --drop-jumps "$@"
train() {
    name=$1
    shift
    pfmhr prior train runs/priors/corpus -o "runs/priors/$name" --steps 4000 --held-out 0.1 --threads 1 "$@"
}
{ train clean && train limits --normalisation limits; } &
train velocity --prediction velocity && pfmhr distance train runs/priors/corpus -o runs/priors/distance --threads 1
wait $!
