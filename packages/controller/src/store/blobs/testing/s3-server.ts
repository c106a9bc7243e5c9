import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

export interface S3TestServer {
  readonly url: string;
  readonly client: S3Client;
  stop(): Promise<void>;
}

const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };
const program = fileURLToPath(new URL('../s3-test-server.py', import.meta.url));

/** A real S3-compatible server on loopback with one empty bucket named `blobs`. Debian package: python3-swift. */
export const startS3TestServer = async (): Promise<S3TestServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'rushhour-s3-'));
  const server = spawn('/usr/bin/python3', [program, join(folder, 'swift')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  server.stderr.on('data', (text) => {
    output = `${output}${text}`.slice(-4000);
  });
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), once(server, 'exit')]);
  const port = /^ready (\d+)$/.exec(String(line))?.[1];
  if (!port) throw new Error(`no S3 server to test against; is the Debian package python3-swift installed?\n${output}`);
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ endpoint, region: 'test-1', credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: 'blobs' }));
  return {
    url: `s3://test%3Atester:testing@127.0.0.1:${port}/blobs?region=test-1&tls=false`,
    client,
    stop: async () => {
      server.stdin.end();
      await once(server, 'exit');
      client.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
