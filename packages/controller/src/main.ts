import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { ConfigError, readConfig } from './config.ts';
import type { Controller } from './controller.ts';
import { StartError } from './errors.ts';
import { prepareDataFolder } from './store/data-folder.ts';
import { StorageUnavailable } from './store/engine/database.ts';

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Whether the message alone says why the start failed. */
const isExplained = (error: unknown): error is Error =>
  error instanceof StartError || error instanceof StorageUnavailable;

/** The first signal lets requests in flight finish, the second ends the process at once. */
const stopOnSignal = (controller: Controller) => {
  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    controller.log.info({ signal }, 'stopping');
    controller.close().then(
      () => process.exit(0),
      (error) => {
        controller.log.error({ err: error }, 'could not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
};

try {
  // Everything this process and its children write is for their user alone.
  process.umask(0o077);
  const config = readConfig(process.env);
  prepareDataFolder(config.dataDir);
  // Local agents of another user pass through the data folder; nothing in it is readable for them.
  process.umask(0o077);
  // Two thirds of the start time is spent on compiling TypeScript, so the result is cached.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startController } = await import('./controller.ts');
  const controller = await startController(config);
  stopOnSignal(controller);
  if (controller.credentials) {
    print('First start: an administrator was created. This password is shown only once.');
    print(`  e-mail    ${controller.credentials.email}`);
    print(`  password  ${controller.credentials.password}`);
  }
  print(`Rushhour is ready at ${controller.url}  (API documentation: ${controller.url}/docs)`);
  // By then everything is loaded; flushing now keeps the next start fast even if the process is killed.
  setTimeout(flushCompileCache, 10_000).unref();
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else
    process.stderr.write(
      `could not start: ${(isExplained(error) ? error.message : (error as Error).stack) ?? error}\n`,
    );
  process.exit(error instanceof ConfigError ? 78 : 1);
}
