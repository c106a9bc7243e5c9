import { globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';

const repository = fileURLToPath(new URL('../', import.meta.url));
/** The programs that tests start most often, and what these start themselves. */
const programs = [
  'packages/controller/src/main.ts',
  'packages/controller/src/plan/core/plan-worker.ts',
  'packages/agent/src/main.ts',
  'packages/agent/src/runs/child/run-process.ts',
  'packages/agent/src/runs/job/core-worker.ts',
  'tests/engines/job-process.ts',
  'tests/engines/prepared-job-process.ts',
  'tests/stack/ike-partner.ts',
  ...globSync('tests/**/*scenario.ts', { cwd: repository }),
];
const nameOf = (program: string): string => program.replaceAll('/', '-').replace(/\.ts$/, '');

/** Modules keep the addresses of their sources, beside which they find files; programs start each other's bundles. */
const sourceAddresses = (folder: string): Plugin => ({
  name: 'source-addresses',
  enforce: 'pre',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return;
    const [file = ''] = id.split('?');
    const addressOf = (path: string) => JSON.stringify(pathToFileURL(path).href);
    const started = code.replace(/new URL\('([^']+\.ts)', import\.meta\.url\)/g, (whole, path: string) => {
      const program = relative(repository, resolve(file, '..', path));
      return programs.includes(program) ? `new URL(${addressOf(join(folder, `${nameOf(program)}.mjs`))})` : whole;
    });
    return { code: started.replaceAll('import.meta.url', addressOf(file)), map: null };
  },
});

/** Makes one file, and a few chunks, of the two thousand modules of a program: it starts with half the work. */
export const bundlePrograms = async (folder: string): Promise<void> => {
  const input = Object.fromEntries(programs.map((program) => [nameOf(program), join(repository, program)]));
  const output = { entryFileNames: '[name].mjs', chunkFileNames: 'chunk-[hash].mjs' };
  const { NODE_ENV: before } = process.env;
  await build({
    configFile: false,
    root: repository,
    logLevel: 'warn',
    plugins: [sourceAddresses(folder)],
    // It finds its files beside its own modules.
    ssr: { noExternal: true, external: ['playwright-core'] },
    build: { ssr: true, outDir: folder, emptyOutDir: true, rolldownOptions: { input, output } },
  });
  // The builder sets it to production for whatever this process does later.
  if (before === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = before;
};
