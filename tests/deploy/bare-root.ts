import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const librariesOf = (program: string): string[] =>
  execFileSync('ldd', [program], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => /(\/\S+)/.exec(line)?.[1] ?? []);

const copyInto = (root: string, path: string) => {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  if (!existsSync(target)) copyFileSync(realpathSync(path), target);
};

/** A program of this machine with the libraries it needs. */
const copyProgram = (root: string, program: string) => {
  const path = execFileSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).trim();
  copyInto(root, path);
  for (const library of librariesOf(path)) copyInto(root, library);
};

/**
 * A machine with BusyBox, the C and C++ libraries and nothing else, in namespaces for mounts and processes. Processes
 * that commands leave behind go on until `close`.
 */
export class BareRoot {
  readonly root = mkdtempSync(join(tmpdir(), 'rushhour-bare-'));
  #init: ChildProcess;
  #pid: string;

  private constructor(programs: readonly string[]) {
    const { root } = this;
    chmodSync(root, 0o755);
    for (const folder of ['bin', 'dev', 'etc', 'proc', 'root', 'tmp']) mkdirSync(join(root, folder));
    chmodSync(join(root, 'tmp'), 0o1777);
    copyInto(root, '/bin/busybox');
    for (const applet of execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n')) {
      // Those of BusyBox, unless the real program is asked for.
      if (!programs.includes(applet)) spawnSync('ln', ['-s', 'busybox', join(root, 'bin', applet)]);
    }
    for (const library of librariesOf(process.execPath)) copyInto(root, library);
    for (const program of programs) copyProgram(root, program);
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
    writeFileSync(join(root, 'etc/group'), 'root:x:0:\n');
    writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
    const init =
      'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && echo ready && exec chroot "$0" /bin/sh -c "while :; do sleep 1; done"';
    this.#init = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', init, root]);
    this.#pid = '';
  }

  static async create(programs: readonly string[] = []): Promise<BareRoot> {
    const bare = new BareRoot(programs);
    await new Promise<void>((resolve, reject) => {
      bare.#init.stdout?.once('data', () => resolve());
      bare.#init.once('exit', (code) => reject(new Error(`unshare ended with ${code}`)));
    });
    const parent = bare.#init.pid;
    bare.#pid = execFileSync('cat', [`/proc/${parent}/task/${parent}/children`], { encoding: 'utf8' }).trim();
    return bare;
  }

  /** Runs a command line as root in there. */
  run(command: string): Promise<{ code: number; output: string }> {
    const entered = ['--target', this.#pid, '--mount', '--pid', 'chroot', this.root];
    const path = 'PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin';
    const child = spawn('nsenter', [...entered, '/bin/env', '-i', path, 'HOME=/root', '/bin/sh', '-c', command]);
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    return new Promise((resolve) => child.once('exit', (code) => resolve({ code: code ?? -1, output })));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#init.once('exit', resolve));
    this.#init.kill('SIGKILL');
    await ended;
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
