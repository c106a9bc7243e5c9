import { execFile } from 'node:child_process';

/** Runs a program and returns its output; a failure names the Debian package that provides it. */
export function runTool(
  program: string,
  args: readonly string[],
  input = '',
): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const options = { timeout: 120_000, maxBuffer: 256 * 1024 * 1024 };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr });
      else reject(new Error(failureText(program, error, stderr), { cause: error }));
    });
    // A program may exit without reading its input; its exit code is checked above.
    child.stdin?.on('error', () => undefined);
    if (input === '') child.stdin?.destroy();
    else child.stdin?.end(input);
  });
}

function failureText(program: string, error: Error & { code?: unknown }, stderr: string): string {
  if (error.code !== 'ENOENT') return `${program} failed: ${stderr}`;
  return `${program} is needed; install the Debian packages tshark, tcpdump, curl, openssl and iproute2`;
}
