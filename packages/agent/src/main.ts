import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { ConfigError, readConfig, usage } from './config.ts';

const args = process.argv.slice(2);

try {
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  const config = readConfig(args, process.env);
  // Most of a start is spent on reading TypeScript; what was read once is kept.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { runProcess } = await import('./process/agent-process.ts');
  process.exit(await runProcess(config, args));
} catch (error) {
  process.stderr.write(
    error instanceof ConfigError ? `${error.message}\n` : `could not start: ${(error as Error).stack}\n`,
  );
  process.exit(error instanceof ConfigError ? 78 : 1);
}
