#!/bin/sh
# Makes docker/secrets for compose.yaml, once: the volumes keep the first passwords. The directory is for its owner only; its files are
# for the users in the containers, which have other numbers. A password is on no command line and in no environment.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "docker/secrets is there already" >&2
  exit 0
fi
umask 077
made=$(mktemp -d ./secrets-XXXXXX)
redis=$(openssl rand -hex 24)
postgres=$(openssl rand -hex 24)
printf 'requirepass %s\n' "$redis" > "$made/redis.conf"
printf '%s' "$postgres" > "$made/postgres-password"
printf '%s' "redis://:$redis@redis:6379" > "$made/redis-url"
printf '%s' "postgresql://hongbao:$postgres@postgres:5432/hongbao" > "$made/postgres-url"
chmod 644 "$made"/*
mv "$made" secrets
