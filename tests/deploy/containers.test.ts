import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { validate as lintDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { stagesOf } from './dockerfile.ts';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
const dockerfile = readFileSync(join(deploy, 'Dockerfile'), 'utf8');

describe('the Dockerfile', () => {
  it('has no problem that a linter finds, which finds some in a wrong one', () => {
    expect(lintDockerfile(dockerfile)).toEqual([]);
    const wrong = dockerfile.replace('EXPOSE 8080', 'EXPOSE eighty').replace('USER rushhour', 'USR rushhour');
    expect(lintDockerfile(wrong)).toHaveLength(2);
  });

  it('runs controller and agent as an ordinary user and knows when they are healthy', () => {
    const stages = stagesOf(dockerfile);
    for (const name of ['controller', 'agent']) {
      expect(stages[name]).toMatchObject({
        from: 'base',
        user: 'rushhour',
        command: [expect.any(String), expect.any(String)],
      });
      expect(stages[name]?.healthCheck.length).toBeGreaterThan(0);
    }
  });
});

type Services = Record<
  string,
  { networks: Record<string, { ipv4_address?: string }>; command?: string[]; build?: { target: string } }
>;

/** The way from agent to agent in namespaces with the addresses, routes and forwarding of the services. */
const pathBetween = (services: Services): string => {
  const ip = (...args: string[]) => execFileSync('ip', args, { encoding: 'utf8' });
  const names = { client: `rhdc${process.pid}`, device: `rhdd${process.pid}`, server: `rhds${process.pid}` };
  const addressOf = (service: string, network: string) => services[service]?.networks[network]?.ipv4_address ?? '';
  const inside = (name: string, ...args: string[]) =>
    execFileSync('ip', ['netns', 'exec', name, ...args], { encoding: 'utf8' });
  try {
    for (const name of Object.values(names)) ip('netns', 'add', name);
    for (const [side, agent] of [
      ['client', names.client],
      ['server', names.server],
    ] as const) {
      ip('link', 'add', 'test', 'netns', agent, 'type', 'veth', 'peer', side, 'netns', names.device);
      ip('-n', agent, 'address', 'add', `${addressOf(`agent-${side}`, `${side}-side`)}/24`, 'dev', 'test');
      ip('-n', names.device, 'address', 'add', `${addressOf('device', `${side}-side`)}/24`, 'dev', side);
      ip('-n', agent, 'link', 'set', 'test', 'up');
      ip('-n', names.device, 'link', 'set', side, 'up');
      inside(agent, ...(services[`route-${side}`]?.command ?? []));
    }
    inside(names.device, 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    const target = addressOf('agent-server', 'server-side');
    inside(names.client, 'ping', '-c', '1', '-W', '5', target);
    return inside(names.client, 'ip', 'route', 'get', target);
  } finally {
    for (const name of Object.values(names)) ip('netns', 'del', name);
  }
};

it('the compose file is valid, has both agents and a device between them', async () => {
  const { stdout } = await promisify(execFile)('docker-compose', ['-f', join(deploy, 'compose.yaml'), 'config'], {
    env: { ...process.env, ADMIN_PASSWORD: 'quiet-Harbour-27-lamps' },
  });
  const { services } = parse(stdout) as {
    services: Services;
  };
  const networksOf = (service: string) => Object.keys(services[service]?.networks ?? {}).toSorted();
  expect(networksOf('agent-client')).toEqual(['client-side', 'management']);
  expect(networksOf('agent-server')).toEqual(['management', 'server-side']);
  expect(networksOf('device')).toEqual(['client-side', 'server-side']);
  for (const service of ['controller', 'agent-client', 'agent-server'])
    expect(Object.keys(stagesOf(dockerfile))).toContain(services[service]?.build?.target);
  expect(pathBetween(services)).toContain('10.90.1.2');
});

it('the compose file of three controllers is valid, and its balancer knows all of them', async () => {
  const { stdout } = await promisify(execFile)('docker-compose', ['-f', join(deploy, 'compose-three.yaml'), 'config'], {
    env: { ...process.env, ADMIN_PASSWORD: 'quiet-Harbour-27-lamps', SECRET_KEY: 'AAAA' },
  });
  const { services } = parse(stdout) as { services: Record<string, { environment?: Record<string, string> }> };
  const controllers = Object.keys(services).filter((name) => name.startsWith('controller-'));
  const balancer = readFileSync(join(deploy, 'haproxy.cfg'), 'utf8');
  expect([...balancer.matchAll(/^ +server \w+ (.+):8080$/gm)].map(([, host]) => host)).toEqual(
    expect.arrayContaining(controllers),
  );
  execFileSync('haproxy', ['-c', '-q', '-f', join(deploy, 'haproxy.cfg')]);
  for (const name of controllers) {
    const environment = services[name]?.environment;
    expect(environment).toEqual(services['controller-one']?.environment);
    for (const shared of ['DATABASE_URL', 'NATS_URL', 'S3_URL', 'RUSHHOUR_SECRET_KEY'])
      expect(environment).toHaveProperty(shared);
    for (const url of ['DATABASE_URL', 'NATS_URL', 'S3_URL'])
      expect(Object.keys(services)).toContain(new URL(environment?.[url] ?? '').hostname);
  }
});

describe('the manifests', () => {
  const models = { Deployment, PersistentVolumeClaim, Service, StatefulSet };
  type Manifest = { kind: keyof typeof models } & Record<string, unknown>;
  const files = readdirSync(join(deploy, 'kubernetes'), { recursive: true, encoding: 'utf8' });
  const manifests = files
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(deploy, 'kubernetes', file), 'utf8')).map((document) => {
        expect(document.errors).toEqual([]);
        return document.toJS() as Manifest;
      }),
    );
  const validate = (manifest: Manifest) => new models[manifest.kind](manifest as never).validate();

  it.each(manifests.map((manifest) => [manifest.kind, manifest] as const))('are valid: %s', (_, manifest) => {
    expect(() => validate(manifest)).not.toThrow();
    expect(() => validate({ ...manifest, spec: { replicas: 'two', ports: 8080, accessModes: 1 } })).toThrow();
  });

  it('have a controller and agents whose containers are not root', () => {
    expect([...new Set(manifests.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(models).toSorted());
    for (const manifest of manifests) {
      if (manifest.kind !== 'Deployment' && manifest.kind !== 'StatefulSet') continue;
      const pod = new models[manifest.kind](manifest as never).spec?.template.spec;
      const security = { ...pod?.securityContext, ...pod?.containers[0]?.securityContext };
      // The group of the volumes: they belong to root otherwise.
      expect(security).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 });
    }
  });

  it('have a controller that answers to the name by which the agents call it', () => {
    const specOf = (kind: 'Deployment' | 'StatefulSet') =>
      new models[kind](manifests.find((manifest) => manifest.kind === kind) as never).spec;
    const envOf = (kind: 'Deployment' | 'StatefulSet', variable: string) =>
      specOf(kind)?.template.spec?.containers[0]?.env?.find(({ name }) => name === variable)?.value ?? '';
    const { hostname, port } = new URL(envOf('StatefulSet', 'RUSHHOUR_CONTROLLER'));
    expect(envOf('Deployment', 'RUSHHOUR_ALLOWED_HOSTS').split(',')).toContain(hostname);
    const services = manifests
      .filter(({ kind }) => kind === 'Service')
      .map((manifest) => new Service(manifest as never));
    const called = services.find(({ metadata }) => metadata?.name === hostname);
    expect(called?.spec?.ports?.map((one) => String(one.port))).toContain(port);
    const { serviceName } = specOf('StatefulSet') as { serviceName?: string };
    expect(services.map(({ metadata }) => metadata?.name)).toContain(serviceName);
  });
});

it('the unit of the controller passes systemd', async () => {
  const unit = readFileSync(join(deploy, 'systemd/rushhour.service'), 'utf8');
  const scratch = mkdtempSync(join(tmpdir(), 'rushhour-unit-'));
  const file = join(scratch, 'rushhour.service');
  writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true').replace('User=rushhour', 'User=root'));
  const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', file]);
  rmSync(scratch, { recursive: true });
  // systemd also checks the units of other packages of this machine.
  expect(stderr.split('\n').filter((line) => line.includes('rushhour'))).toEqual([]);
});
