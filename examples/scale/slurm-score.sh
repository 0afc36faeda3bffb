#!/bin/bash
# Scores DATA in as many shards as the array has tasks: sbatch --array=0-63 slurm-score.sh gate/ DATA PARTS
#SBATCH --job-name=dissensus-score
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail
gate=$1 data=$2 parts=$3
shard=$SLURM_ARRAY_TASK_ID
shards=$((SLURM_ARRAY_TASK_MAX + 1))
mkdir -p "$parts"
# A task that is requeued goes on where it stopped, and does nothing where its part is there already.
exec dissensus score "$gate" "$data" --shard "$shard/$shards" --skip-unreadable --quiet \
    -o "$(printf '%s/part-%05d.parquet' "$parts" "$shard")"
