import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome, ProtocolDriver } from '../../driver.ts';
import { proofOf } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';
import { createFtpSession } from './ftp-session.ts';
import { LineClient, marksOf, outcomeOf, proofOutcome } from './line-client.ts';
import { listenLines } from './line-server.ts';

const isPositive = (reply: string | undefined): reply is string => reply !== undefined && /^[123]/.test(reply);

/** Opens the data connection. */
const openData = async (client: LineClient, route: AttackRoute, context: ClientContext) => {
  const reply = await client.ask('EPSV');
  const port = Number(/\(\|\|\|(\d{1,5})\|\)/.exec(reply ?? '')?.[1] ?? 0);
  if (port === 0) return { reply, data: undefined };
  const { localPort: _, ...sameRoute } = route;
  return { reply, data: await ClientConnection.open({ ...sameRoute, port, isTls: false }, context) };
};

const readAll = async (data: ClientConnection): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  while (await data.more()) pieces.push(data.take());
  pieces.push(data.take());
  return Buffer.concat(pieces);
};

const storeFile = async (
  client: LineClient,
  data: ClientConnection,
  { name, content }: { name: string; content: Buffer },
) => {
  const go = await client.ask(`STOR ${name}`);
  if (!isPositive(go)) return { isComplete: false, reply: go };
  const isComplete = await data.write(content);
  data.finish();
  const reply = await client.reply();
  // The end of the data connection is more specific than a silent control connection.
  if (reply === undefined && data.end !== 'none') client.connection.end = data.end;
  return { isComplete, reply };
};

const fetchFile = async (client: LineClient, data: ClientConnection, { name }: { name: string }) => {
  const go = await client.ask(`RETR ${name}`);
  if (!isPositive(go)) return { isComplete: true, reply: go };
  const received = await readAll(data);
  const reply = await client.reply();
  const isCut = received.length === 0 && !reply?.startsWith('226');
  if (isCut && data.end !== 'none') client.connection.end = data.end;
  return {
    isComplete: true,
    reply: isCut && reply === undefined ? undefined : (reply ?? go),
    received: isCut ? undefined : received,
  };
};

const attemptFtp = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as FileExchange;
  const content = context.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, context);
  const client = await LineClient.open(route, context);
  const known = { client, content, exchange, proof };
  let reply = client.connection.isOpen ? await client.reply() : undefined;
  for (const line of [`USER ${token}`, 'PASS x', 'TYPE I']) if (isPositive(reply)) reply = await client.ask(line);
  if (!isPositive(reply)) return outcomeOf({ ...known, isComplete: false, reply });
  const opened = await openData(client, route, context);
  const { data } = opened;
  if (data === undefined || !data.isOpen) {
    if (data !== undefined) client.connection.end = data.connect === 'refused' ? 'reset' : 'timeout';
    return outcomeOf({ ...known, isComplete: false, reply: data === undefined ? opened.reply : undefined });
  }
  const carry = exchange.direction === 'up' ? storeFile : fetchFile;
  const transferred = await carry(client, data, { name: exchange.name, content });
  data.close();
  return outcomeOf({ ...known, ...transferred });
};

const proveFtp = async (nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome> => {
  const client = await LineClient.open(route, context);
  const greeting = client.connection.isOpen ? await client.reply() : undefined;
  const reply = isPositive(greeting) ? await client.ask(`USER proof-${nonce}`) : greeting;
  return proofOutcome(client, reply, proofOf(context.proofKey, nonce));
};

/** File transfer by FTP in passive mode. */
export const ftpDriver: ProtocolDriver = {
  protocols: ['ftp'],
  attempt: attemptFtp,
  prove: proveFtp,
  listen: (endpoint, context) => listenLines(endpoint, context, createFtpSession),
};
