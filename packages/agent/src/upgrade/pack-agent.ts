import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { agentVersion } from '../version.ts';
import { packAgent } from './agent-package.ts';

// Writes the upgrade package: `node packages/agent/src/upgrade/pack-agent.ts [FILE]`.
const file = process.argv[2] ?? `rushhour-agent-${agentVersion}.tgz`;
const content = await packAgent();
await writeFile(file, content);
const sha256 = createHash('sha256').update(content).digest('hex');
process.stdout.write(`${file}  version ${agentVersion}  ${content.length} bytes  sha256 ${sha256}\n`);
