import type { Attempt, FileExchange } from '@rushhour/protocol';
import { Dialog } from '../dialog.ts';
import type { AttackRoute, ClientScene, ClientSight, ProofSight, ProtocolDriver } from '../driver.ts';
import { proofOf } from '../proof.ts';
import { createFtpSession } from './ftp-session.ts';
import { LineClient, marksOf, sightOf } from './line-client.ts';
import { listenLines } from './line-server.ts';

const isFine = (reply: string | undefined): reply is string => reply !== undefined && /^[123]/.test(reply);

/** Opens the second connection, which carries the file. */
const openData = async (client: LineClient, route: AttackRoute, scene: ClientScene) => {
  const reply = await client.ask('EPSV');
  const port = Number(/\(\|\|\|(\d{1,5})\|\)/.exec(reply ?? '')?.[1] ?? 0);
  if (port === 0) return { reply, data: undefined };
  const { localPort: _, ...sameWay } = route;
  return { reply, data: await Dialog.open({ ...sameWay, port, isTls: false }, scene) };
};

const readAll = async (data: Dialog): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  while (await data.more()) pieces.push(data.take());
  pieces.push(data.take());
  return Buffer.concat(pieces);
};

const storeFile = async (client: LineClient, data: Dialog, { name, content }: { name: string; content: Buffer }) => {
  const go = await client.ask(`STOR ${name}`);
  if (!isFine(go)) return { isComplete: false, reply: go };
  const isComplete = await data.write(content);
  data.finish();
  const reply = await client.reply();
  // A connection for the file that was cut off tells more than a silent one for the words.
  if (reply === undefined && data.end !== 'none') client.dialog.end = data.end;
  return { isComplete, reply };
};

const fetchFile = async (client: LineClient, data: Dialog, { name }: { name: string }) => {
  const go = await client.ask(`RETR ${name}`);
  if (!isFine(go)) return { isComplete: true, reply: go };
  const received = await readAll(data);
  const reply = await client.reply();
  const isCut = received.length === 0 && !reply?.startsWith('226');
  if (isCut && data.end !== 'none') client.dialog.end = data.end;
  return {
    isComplete: true,
    reply: isCut && reply === undefined ? undefined : (reply ?? go),
    received: isCut ? undefined : received,
  };
};

const attemptFtp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const exchange = attempt.exchange as FileExchange;
  const content = scene.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, scene);
  const client = await LineClient.open(route, scene);
  const known = { client, content, exchange, proof };
  let reply = client.dialog.isOpen ? await client.reply() : undefined;
  for (const line of [`USER ${token}`, 'PASS x', 'TYPE I']) if (isFine(reply)) reply = await client.ask(line);
  if (!isFine(reply)) return sightOf({ ...known, isComplete: false, reply });
  const opened = await openData(client, route, scene);
  const { data } = opened;
  if (data === undefined || !data.isOpen) {
    if (data !== undefined) client.dialog.end = data.connect === 'refused' ? 'reset' : 'timeout';
    return sightOf({ ...known, isComplete: false, reply: data === undefined ? opened.reply : undefined });
  }
  const carry = exchange.direction === 'up' ? storeFile : fetchFile;
  const carried = await carry(client, data, { name: exchange.name, content });
  data.close();
  return sightOf({ ...known, ...carried });
};

const proveFtp = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const client = await LineClient.open(route, scene);
  const greeting = client.dialog.isOpen ? await client.reply() : undefined;
  const reply = isFine(greeting) ? await client.ask(`USER proof-${nonce}`) : greeting;
  const isGood = reply?.includes(proofOf(scene.proofKey, nonce)) ?? false;
  client.dialog.close();
  return { ip: client.dialog.ip, isGood, detail: isGood ? '' : (reply ?? client.dialog.end) };
};

/** Files by FTP, stored or fetched over a passive second connection. */
export const ftpDriver: ProtocolDriver = {
  protocols: ['ftp'],
  attempt: attemptFtp,
  prove: proveFtp,
  listen: (place, scene) => listenLines(place, scene, createFtpSession),
};
