import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@rushhour/client';
import { api, isSecret, membersIn, plugins, protocolProfiles, type Route, tunnelParams } from '@rushhour/contract';

/** Every secret member of the contract, as `<where>/<name>`. */
export const secretMembers = (): Set<string> => {
  const found = new Set<string>();
  const look = (where: string, schema: unknown) => {
    for (const member of membersIn(schema)) if (isSecret(member.schema)) found.add(`${where}/${member.name}`);
  };
  for (const [tag, { routes }] of Object.entries(api)) {
    for (const { body, query, reply, upload } of Object.values(routes) as Route[]) {
      for (const schema of [body, query, reply, upload]) look(tag, schema);
    }
  }
  for (const { name, schema } of plugins) look(`plugin.${name}`, schema);
  for (const [type, schema] of Object.entries(tunnelParams)) look(`tunnel.${type}`, schema);
  for (const [protocol, schema] of Object.entries(protocolProfiles)) look(`profile.${protocol}`, schema);
  return found;
};

let count = 0;
/** A unique text that the schema accepts. */
const canaryFor = ({ pattern = '' }: { pattern?: string } = {}) => {
  count += 1;
  if (pattern.includes('0-9a-f')) return `c0ffee${count.toString(16).padStart(2, '0')}`.repeat(2);
  if (pattern.includes('A-Za-z0-9+/')) return `${`CANARY${count}x`.padEnd(42, 'y')}A=`;
  return `CANARY-${count}-of-a-secret`;
};

/** Canaries by the member that holds them. */
export type Planted = Map<string, string[]>;

const put = (planted: Planted, member: string, canary: string) => {
  planted.set(member, [...(planted.get(member) ?? []), canary]);
  return canary;
};

const objectAt = (pointer: string, value: unknown): object =>
  pointer
    .split('/')
    .slice(1)
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

const plantTunnels = async (client: Client, planted: Planted) => {
  for (const [type, schema] of Object.entries(tunnelParams)) {
    const members = [...membersIn(schema)].filter((member) => isSecret(member.schema));
    if (members.length === 0) continue;
    const params = Object.fromEntries(
      members.map((member) => [member.name, put(planted, `tunnel.${type}/${member.name}`, canaryFor(member.schema))]),
    );
    await client.tunnels.create({ body: { name: `tunnel ${type}`, type, params } as never });
  }
};

const merged = (parts: object[]) =>
  parts.reduce<Record<string, object>>((all, part) => {
    for (const [name, members] of Object.entries(part)) all[name] = { ...all[name], ...(members as object) };
    return all;
  }, {});

const plantProfiles = async (client: Client, planted: Planted) => {
  for (const [protocol, schema] of Object.entries(protocolProfiles)) {
    const members = [...membersIn(schema)].filter((member) => isSecret(member.schema));
    if (members.length === 0) continue;
    const parts = members.map(({ name, pointer }) =>
      objectAt(pointer, put(planted, `profile.${protocol}/${name}`, canaryFor())),
    );
    const body = { name: `profile ${protocol}`, type: `protocol.${protocol}`, config: merged(parts) };
    await client.dictionaries.create({ body: body as never });
  }
};

const plantTasks = async (client: Client, planted: Planted): Promise<number[]> => {
  const ids: number[] = [];
  const [agent] = (await client.agents.list({ query: {} })).data;
  const ends = [{ agent: { id: agent?.id } }];
  for (const { id, name, schema, examples } of plugins) {
    const members = [...membersIn(schema)].filter((member) => isSecret(member.schema));
    if (members.length === 0) continue;
    const secrets = members.map((member) => {
      const canary = put(planted, `plugin.${name}/${member.name}`, canaryFor(member.schema));
      return [member.name, put(planted, `tasks/${member.name}`, canary)];
    });
    const values = { ...examples[0], sources: ends, targets: ends, ...Object.fromEntries(secrets) };
    const entry = { plugin: { id }, values };
    const { data } = await client.tasks.create({ body: { configuration: [entry] } as never });
    ids.push(data);
  }
  const pair = (name: string) => ({ name, value: put(planted, 'tasks/headers', canaryFor()) });
  const httpParams = {
    headers: ['Authorization', 'Proxy-Authorization', 'Cookie', 'X-Api-Key', 'X-Auth-Token'].map(pair),
    cookies: [pair('session')],
  };
  const entry = { plugin: { id: 1 }, values: { sources: ends, targets: ends, requestsPerSecond: 1, httpParams } };
  ids.push((await client.tasks.create({ body: { configuration: [entry] } as never })).data);
  return ids;
};

/** A key of which a line is the canary, imported again under a passphrase and as PKCS #12. */
const plantCertificates = async (client: Client, planted: Planted) => {
  const generate = { kind: 'ca', subject: 'CN=canary.test', keyType: 'ecdsa-p256' };
  const { data: id } = await client.certificates.create({ body: { name: 'made here', generate } as never });
  const { data } = await client.certificates.get({ params: { id }, query: { include: 'private' } as never });
  const lines = data.private.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
  put(planted, 'certificates/private', lines[1] ?? lines[0] ?? '');
  const passphrase = put(planted, 'certificates/passphrase', canaryFor());
  const sealed = createPrivateKey(data.private).export({
    ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase },
  });
  const body = { name: 'imported', public: data.public, private: String(sealed), passphrase };
  await client.certificates.create({ body: body as never });
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-canaries-'));
  const [key, certificate, out] = ['key.pem', 'certificate.pem', 'both.p12'].map((name) => join(folder, name));
  writeFileSync(key as string, data.private);
  writeFileSync(certificate as string, data.public);
  const args = ['pkcs12', '-export', '-inkey', key, '-in', certificate, '-out', out, '-passout', `pass:${passphrase}`];
  execFileSync('openssl', args as string[]);
  const pkcs12 = readFileSync(out as string).toString('base64');
  rmSync(folder, { recursive: true });
  put(planted, 'certificates/pkcs12', pkcs12.slice(200, 260));
  await client.certificates.create({ body: { name: 'as PKCS 12', pkcs12, passphrase } as never });
};

const plantPeople = async (client: Client, url: string, planted: Planted) => {
  const made = await client.users.create({ body: { email: 'canary@example.test', realName: 'c', groupID: 1 } });
  put(planted, 'users/password', made.password);
  const { createClient, cookieJar } = await import('@rushhour/client');
  const own = createClient(url, cookieJar());
  const wrong = put(planted, 'auth/password', canaryFor());
  await own.auth.login({ body: { email: 'canary@example.test', password: wrong } }).catch(() => undefined);
  await own.auth.login({ body: made });
  put(planted, 'auth/currentPassword', made.password);
  const newPassword = put(planted, 'auth/newPassword', canaryFor());
  await own.auth.password({ body: { currentPassword: made.password, newPassword } });
  const { data } = await own.users.updateMe({ body: { createToken: { name: 'canary' } } });
  put(planted, 'users/token', data.token ?? '');
};

const plantServices = async (client: Client, planted: Planted) => {
  const secret = put(planted, 'settings/secret', canaryFor());
  const password = put(planted, 'settings/password', canaryFor());
  const webhooks = [{ url: 'http://127.0.0.1:9/hook', events: ['ai.approval', 'settings.changed'], secret }];
  const authorization = put(planted, 'settings/authorization', canaryFor());
  const outputs = [{ type: 'influx', target: 'http://127.0.0.1:9/write', authorization }];
  await client.settings.update({ body: { webhooks, mail: { password }, metrics: { outputs } } as never });
  const { data: token } = await client.agents.createToken({ body: { name: 'canary', ttlSec: 600, maxUses: 1 } });
  put(planted, 'agents/token', token.token);
  const { data: key } = await client.aiAdmin.createKey({ body: { name: 'canary', scopes: ['tasks:read'] } });
  put(planted, 'aiAdmin/secret', key.secret);
  const { data: rotated } = await client.aiAdmin.updateKey({ body: { id: key.key.id, rotate: true } });
  put(planted, 'aiAdmin/secret', rotated?.secret ?? '');
  const archivePassword = put(planted, 'malware/archivePassword', canaryFor());
  await client.malware
    .create({ body: { name: 'x', content: btoa('no archive'), archivePassword, attestation: true } as never })
    .catch(() => undefined);
};

/** Puts a different secret into every secret member. Needs an agent. */
export const plantCanaries = async (client: Client, url: string) => {
  const planted: Planted = new Map();
  await plantTunnels(client, planted);
  await plantProfiles(client, planted);
  await plantCertificates(client, planted);
  await plantPeople(client, url, planted);
  await plantServices(client, planted);
  return { planted, taskIds: await plantTasks(client, planted) };
};
