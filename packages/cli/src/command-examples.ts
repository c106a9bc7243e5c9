/** Examples in the help of commands that are no operations of the API, by the words of the command. */
export const commandExamples: Readonly<Record<string, readonly string[]>> = {
  agent: ['rushhour agent --controller https://lab.example.test:8080 --token rh_join_…'],
  apply: ['rushhour apply tests/*.yaml', 'rushhour apply --diff tests/firewall.yaml'],
  'audit checkpoint': ['rushhour audit checkpoint >> /mnt/elsewhere/checkpoints.jsonl'],
  'audit verify': ['rushhour audit verify', 'rushhour audit verify --checkpoints /mnt/elsewhere/checkpoints.jsonl'],
  backup: ['rushhour backup /backups/2026-11-18'],
  export: ['rushhour export 12 > task.yaml', 'rushhour export 12 13 --to tests'],
  login: ['rushhour login --url https://lab.example.test:8080 --email you@example.test'],
  restore: ['RUSHHOUR_DATA_DIR=/var/lib/rushhour rushhour restore /backups/2026-11-18'],
  start: ['rushhour start', 'RUSHHOUR_HOST=0.0.0.0 RUSHHOUR_PORT=8443 rushhour start'],
  'token list': ['rushhour token list -o table'],
  'token revoke': ['rushhour token revoke 3'],
  watch: ['rushhour watch', "rushhour watch -o json | jq -r '.data.message'"],
};
