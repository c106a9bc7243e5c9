import { hash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient, type Send } from '@rushhour/client';
import { Agent, fetch as fetchWith } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeWithOpenssl } from '../assets/certificates/testing/openssl.ts';
import { enrolTestAgent } from '../testing/agent.ts';
import { admin, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let client: Client;
let cert: string;
beforeAll(async () => {
  const key = (await makeWithOpenssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256')).toString();
  const folder = await mkdtemp(join(tmpdir(), 'rushhour-tls-'));
  await writeFile(`${folder}/key.pem`, key);
  const subject = ['-subj', '/CN=localhost', '-days', '1'];
  cert = (await makeWithOpenssl('req', '-x509', '-key', `${folder}/key.pem`, ...subject)).toString();
  await rm(folder, { recursive: true });
  controller = await startTestController({ tls: { cert, key } });
  const dispatcher = new Agent({ connect: { ca: cert, checkServerIdentity: () => undefined } });
  const send: Send = (url, init) => fetchWith(url, { ...(init as object), dispatcher }) as unknown as Promise<Response>;
  client = createClient(controller.url, cookieJar(send));
  await client.auth.login({ body: admin });
});
afterAll(() => controller.close());

it('a token names the certificate that agents will meet, and agents meet it', async () => {
  const { data } = await client.agents.createToken({ body: { name: 'tls', ttlSec: 60, maxUses: 1 } });
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const pin = `sha256//${hash('sha256', key, 'base64')}`;
  expect(data).toMatchObject({ controllerUrl: controller.url, fingerprint });
  expect(data.command).toBe(
    `curl -fsSLk --pinnedpubkey '${pin}' ${controller.url}/agent/install.sh | sh -s -- --token ${data.token} --fingerprint ${fingerprint}`,
  );
  const agent = await enrolTestAgent(client, { url: controller.url, socketOptions: { rejectUnauthorized: false } });
  expect((await client.agents.get({ params: { id: agent.agentId } })).data.status).toBe(1);
  await agent.close();
});

it('other upgrades are ordinary requests over TLS, too', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'h2c' };
    const asked = request(`${controller.url}/v1/version`, { ca: cert, checkServerIdentity: () => undefined, headers });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', reject).end();
  });
  expect(status).toBe(200);
});
