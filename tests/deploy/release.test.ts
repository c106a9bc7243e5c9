import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { freePort } from '../process/free-port.ts';
import { BareRoot } from './bare-root.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const deploy = join(root, 'deploy');
const scratch = mkdtempSync(join(tmpdir(), 'rushhour-release-'));
const version = '0.2.0';
const name = `rushhour-${version}-linux-${process.arch}`;
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('a release', () => {
  beforeAll(async () => {
    const options = ['scripts/release.ts', '--out', scratch, '--version', version];
    await promisify(execFile)(process.execPath, options, { cwd: root });
  });

  it('has archives of controller and agent, checksums and a bill of materials', () => {
    expect(readdirSync(scratch).toSorted()).toEqual(
      [
        'SHA256SUMS',
        `rushhour-${version}.cdx.json`,
        `${name}.tar.gz`,
        `rushhour-agent-${version}-linux-${process.arch}.json`,
        `rushhour-agent-${version}-linux-${process.arch}.tar.gz`,
      ].toSorted(),
    );
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: scratch, stdio: 'ignore' });
    const bill = JSON.parse(readFileSync(join(scratch, `rushhour-${version}.cdx.json`), 'utf8'));
    expect(bill.bomFormat).toBe('CycloneDX');
    const components = bill.components.map((component: { name: string }) => component.name);
    expect(components).toEqual(expect.arrayContaining(['fastify', 'kysely', 'ws']));
    expect(components).not.toContain('vitest');
  });

  it('runs as an ordinary user on a machine without Node.js, with the web interface, and serves agents', async () => {
    const bare = await BareRoot.create(['setpriv']);
    try {
      mkdirSync(join(bare.root, 'opt'));
      mkdirSync(join(bare.root, 'data'), { mode: 0o777 });
      execFileSync('chown', ['10001:10001', join(bare.root, 'data')]);
      execFileSync('tar', ['-xzf', join(scratch, `${name}.tar.gz`), '-C', join(bare.root, 'opt')]);
      const port = await freePort();
      const env = `RUSHHOUR_PORT=${port} RUSHHOUR_DATA_DIR=/data RUSHHOUR_LOCAL_AGENTS=0`;
      const program = `/opt/${name}/bin/node /opt/${name}/packages/controller/src/main.ts`;
      const ended = bare.run(`${env} /usr/bin/setpriv --reuid=10001 --regid=10001 --clear-groups ${program}`);
      const url = `http://127.0.0.1:${port}`;
      const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status;
      await Promise.race([
        expect.poll(isReady, { timeout: 120_000 }).toBe(200),
        ended.then(({ output }) => Promise.reject(new Error(output))),
      ]);
      const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
      expect(page).toContain('/assets/');
      expect(await (await fetch(`${url}/v1/version`)).json()).toMatchObject({ data: { version } });
      expect(await (await fetch(`${url}/guide/concepts`)).text()).toContain('/guide/pictures/concepts.svg');
      const script = await (await fetch(`${url}/agent/install.sh`)).text();
      expect(script).toContain(`version='${version}'`);
      expect(script).toMatch(new RegExp(`^archives='${process.arch} [0-9a-f]{64} [0-9a-f]{64}'$`, 'm'));
    } finally {
      await bare.close();
    }
  });
});

it('the compose file is valid, has both agents and a device between them', async () => {
  const { stdout } = await promisify(execFile)('docker-compose', ['-f', join(deploy, 'compose.yaml'), 'config'], {
    env: { ...process.env, ADMIN_PASSWORD: 'quiet-Harbour-27-lamps' },
  });
  const { services } = parse(stdout) as {
    services: Record<string, { networks: object; build?: { target: string } }>;
  };
  const networksOf = (service: string) => Object.keys(services[service]?.networks ?? {}).toSorted();
  expect(networksOf('agent-client')).toEqual(['client-side', 'management']);
  expect(networksOf('agent-server')).toEqual(['management', 'server-side']);
  expect(networksOf('device')).toEqual(['client-side', 'server-side']);
  const stages = [...readFileSync(join(deploy, 'Dockerfile'), 'utf8').matchAll(/^FROM \S+ AS (\w+)$/gm)].map(
    ([, stage]) => stage,
  );
  for (const service of ['controller', 'agent-client', 'agent-server'])
    expect(stages).toContain(services[service]?.build?.target);
});

it('the manifests are documents of Kubernetes whose containers are not root', () => {
  const documents = readdirSync(join(deploy, 'kubernetes')).flatMap((file) =>
    parseAllDocuments(readFileSync(join(deploy, 'kubernetes', file), 'utf8')),
  );
  const kinds = documents.map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS().kind as string;
  });
  expect(kinds.toSorted()).toEqual(['Deployment', 'PersistentVolumeClaim', 'Service', 'StatefulSet']);
  for (const document of documents) {
    const pod = document.toJS().spec?.template?.spec;
    if (pod === undefined) continue;
    const security = { ...pod.securityContext, ...pod.containers[0].securityContext };
    expect(security).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
  }
});

it('the unit of the controller passes systemd', async () => {
  const unit = readFileSync(join(deploy, 'systemd/rushhour.service'), 'utf8');
  const file = join(scratch, 'rushhour.service');
  writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true').replace('User=rushhour', 'User=root'));
  const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', file]);
  // systemd also checks the units of other packages of this machine.
  expect(stderr.split('\n').filter((line) => line.includes('rushhour'))).toEqual([]);
});
