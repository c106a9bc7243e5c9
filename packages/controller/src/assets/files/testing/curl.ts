import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { admin } from '../../../testing/controller.ts';

const run = promisify(execFile);

export interface CurlAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** curl with its own session, as an independent client. */
export const signInWithCurl = async (url: string) => {
  const login = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const cookie = login.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  return async (path: string, ...args: string[]): Promise<CurlAnswer> => {
    const options = ['-s', '-i', '-H', `Cookie: ${cookie}`, '-H', 'Expect:', ...args, `${url}${path}`];
    const { stdout } = await run('curl', options, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
    const end = stdout.indexOf('\r\n\r\n');
    const [first = '', ...lines] = stdout.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    return { status: Number(first.split(' ')[1]), headers, body: stdout.subarray(end + 4) };
  };
};
