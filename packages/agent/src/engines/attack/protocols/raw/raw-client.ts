import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, RawExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome } from '../../driver.ts';
import { hashOfBytes, joinedHash } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';
import { ClientDatagramSocket } from '../../transport/client-datagram-socket.ts';
import { proofAnswer, proofRequest, scriptOf } from './raw-form.ts';

const excerptBytes = 2048;
const comparedBytes = 64;

/** Whether the received bytes start like our own answer. */
const beginsAlike = (received: Buffer, wanted: Buffer): boolean => {
  const length = Math.min(received.length, wanted.length, comparedBytes);
  return received.length > 0 && received.subarray(0, length).equals(wanted.subarray(0, length));
};

const wait = async (ms: number, { signal }: ClientContext): Promise<void> => {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
};

/** Reads until `length` bytes have arrived or the connection ends. */
const readUpTo = async (connection: ClientConnection, length: number): Promise<Buffer> => {
  let received = connection.take();
  while (received.length < length && (await connection.more())) received = Buffer.concat([received, connection.take()]);
  return received;
};

const longestGreeting = 4096;

/** Reads until the proof has arrived, which may follow a greeting. */
const readProof = async (connection: ClientConnection, wanted: Buffer): Promise<Buffer> => {
  let received = connection.take();
  while (!received.includes(wanted) && received.length < longestGreeting && (await connection.more()))
    received = Buffer.concat([received, connection.take()]);
  return received;
};

const overTcp = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as RawExchange;
  const script = scriptOf(attempt.id, exchange, context);
  const { segmentBytes, gapMs } = exchange;
  const cut = { ...(segmentBytes !== undefined && { segmentBytes }), ...(gapMs !== undefined && { gapMs }) };
  const connection = await ClientConnection.open(route, context);
  const received: Buffer[] = [];
  let isComplete = false;
  const { greeting } = script;
  if (greeting.length > 0 && connection.isOpen) received.push(await readUpTo(connection, greeting.length));
  const isGreeted = received.every((bytes) => bytes.equals(greeting));
  for (const [index, { bytes, isAnswered, delayMs }] of script.sends.entries()) {
    await wait(delayMs, context);
    if (!isGreeted || !connection.isOpen || !(await connection.write(bytes, cut))) break;
    isComplete = index === script.sends.length - 1;
    if (!isAnswered) continue;
    const answer = await readUpTo(connection, (script.answers[index] as Buffer).length);
    received.push(answer);
    if (!answer.equals(script.answers[index] as Buffer)) break;
  }
  connection.close();
  const all = Buffer.concat(received);
  const wanted = Buffer.concat([greeting, ...script.answers]);
  // A greeting tells nothing of what came after it.
  const greetedBytes = isGreeted ? greeting.length : 0;
  return {
    ...{ ip: connection.ip, port: connection.port, connect: connection.connect, isComplete, ttfbMs: connection.ttfbMs },
    sentBytes: connection.sentBytes,
    sentSha256: hashOfBytes(Buffer.concat(script.sends.map(({ bytes }) => bytes))),
    end: all.equals(wanted) || (all.length > greetedBytes && connection.end !== 'reset') ? 'response' : connection.end,
    status: 0,
    rxBytes: all.length,
    rxSha256: hashOfBytes(all),
    responseIsOurs: beginsAlike(all.subarray(greetedBytes), wanted.subarray(greetedBytes)),
    ...(connection.ownError !== undefined && { error: connection.ownError }),
    ...(!all.equals(wanted) && all.length > greetedBytes && { excerpt: all.toString('base64', 0, excerptBytes) }),
  };
};

const overUdp = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const script = scriptOf(attempt.id, attempt.exchange as RawExchange, context);
  const connection = await ClientDatagramSocket.open(route);
  const received: Buffer[] = [];
  const sent: Buffer[] = [];
  for (const [index, { bytes, isAnswered, delayMs }] of script.sends.entries()) {
    await wait(delayMs, context);
    if (!(await connection.send(bytes))) break;
    sent.push(bytes);
    const answer = isAnswered ? await connection.receive() : undefined;
    if (answer !== undefined) received.push(answer);
    if (isAnswered && answer?.equals(script.answers[index] as Buffer) !== true) break;
  }
  const wanted = script.answers.filter((_, index) => script.sends[index]?.isAnswered);
  const hasAll = received.length === wanted.length;
  connection.close();
  return {
    ...{ ip: connection.ip, port: connection.port, connect: connection.connect, ttfbMs: connection.ttfbMs },
    isComplete: sent.length === script.sends.length,
    sentBytes: sent.reduce((sum, { length }) => sum + length, 0),
    sentSha256: joinedHash(script.sends.map(({ bytes }) => hashOfBytes(bytes))),
    end: hasAll ? 'response' : connection.isOpen ? 'timeout' : 'none',
    status: 0,
    rxBytes: received.reduce((sum, { length }) => sum + length, 0),
    rxSha256: joinedHash(received.map(hashOfBytes)),
    responseIsOurs:
      received.length > 0 && received.every((bytes, index) => beginsAlike(bytes, wanted[index] as Buffer)),
    ...(connection.ownError !== undefined && { error: connection.ownError }),
  };
};

export const attemptRaw = (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> =>
  route.transport === 'udp' ? overUdp(attempt, route, context) : overTcp(attempt, route, context);

export const proveRaw = async (nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome> => {
  const wanted = proofAnswer(context, nonce);
  const connection =
    route.transport === 'udp' ? await ClientDatagramSocket.open(route) : await ClientConnection.open(route, context);
  let answer = Buffer.alloc(0);
  if (connection instanceof ClientDatagramSocket) {
    if (await connection.send(proofRequest(nonce))) answer = Buffer.from((await connection.receive()) ?? answer);
  } else if (connection.isOpen && (await connection.write(proofRequest(nonce))))
    answer = Buffer.from(await readProof(connection, wanted));
  const { ip, connect } = connection;
  connection.close();
  const isGood = answer.subarray(-wanted.length).equals(wanted);
  return { ip, isGood, detail: isGood ? '' : `${answer.length} bytes are not the proof; connect ${connect}` };
};
