#!/bin/bash
# Runs a chain of one fit in each task of an array: sbatch --array=0-7 slurm-fit.sh DATA PARTS
# Then, once: dissensus join PARTS/chain-* -o gate/
#SBATCH --job-name=dissensus-fit
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=24:00:00
#SBATCH --requeue
set -euo pipefail
data=$1 parts=$2
mkdir -p "$parts"
# --draws are those of this chain alone; rows need --draws 1, for each chain is a member of an ensemble. A task that is requeued goes on after the last epoch it had done.
exec dissensus fit "$data" --chains 1 --draws 10 --chain-offset "$SLURM_ARRAY_TASK_ID" --quiet \
    -o "$(printf '%s/chain-%03d' "$parts" "$SLURM_ARRAY_TASK_ID")"
