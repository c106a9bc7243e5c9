import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, RawExchange } from '@rushhour/protocol';
import { Dialog } from '../dialog.ts';
import type { AttackRoute, ClientScene, ClientSight, ProofSight } from '../driver.ts';
import { PacketDialog } from '../packet-dialog.ts';
import { hashOfBytes, joinedHash } from '../proof.ts';
import { proofAnswer, proofRequest, scriptOf } from './raw-form.ts';

const excerptBytes = 2048;
const tellingBytes = 64;

/** Whether what came at least begins as our own answer does. */
const beginsAlike = (received: Buffer, wanted: Buffer): boolean => {
  const length = Math.min(received.length, wanted.length, tellingBytes);
  return received.length > 0 && received.subarray(0, length).equals(wanted.subarray(0, length));
};

const wait = async (ms: number, { signal }: ClientScene): Promise<void> => {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
};

/** Reads until so many bytes are there, or no more come. */
const readUpTo = async (dialog: Dialog, length: number): Promise<Buffer> => {
  let received = dialog.take();
  while (received.length < length && (await dialog.more())) received = Buffer.concat([received, dialog.take()]);
  return received;
};

const overTcp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const exchange = attempt.exchange as RawExchange;
  const script = scriptOf(attempt.id, exchange, scene);
  const { segmentBytes, gapMs } = exchange;
  const cut = { ...(segmentBytes !== undefined && { segmentBytes }), ...(gapMs !== undefined && { gapMs }) };
  const dialog = await Dialog.open(route, scene);
  const received: Buffer[] = [];
  let isComplete = false;
  for (const [index, { bytes, isAnswered, delayMs }] of script.sends.entries()) {
    await wait(delayMs, scene);
    if (!dialog.isOpen || !(await dialog.write(bytes, cut))) break;
    isComplete = index === script.sends.length - 1;
    if (!isAnswered) continue;
    const answer = await readUpTo(dialog, (script.answers[index] as Buffer).length);
    received.push(answer);
    if (!answer.equals(script.answers[index] as Buffer)) break;
  }
  dialog.close();
  const all = Buffer.concat(received);
  const wanted = Buffer.concat(script.answers);
  return {
    ...{ ip: dialog.ip, port: dialog.port, connect: dialog.connect, isComplete, ttfbMs: dialog.ttfbMs },
    sentBytes: dialog.sentBytes,
    sentSha256: hashOfBytes(Buffer.concat(script.sends.map(({ bytes }) => bytes))),
    end: all.equals(wanted) || (all.length > 0 && dialog.end !== 'reset') ? 'response' : dialog.end,
    status: 0,
    rxBytes: all.length,
    rxSha256: hashOfBytes(all),
    responseIsOurs: beginsAlike(all, wanted),
    ...(dialog.ownError !== undefined && { error: dialog.ownError }),
    ...(!all.equals(wanted) && all.length > 0 && { excerpt: all.toString('base64', 0, excerptBytes) }),
  };
};

const overUdp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const script = scriptOf(attempt.id, attempt.exchange as RawExchange, scene);
  const dialog = await PacketDialog.open(route);
  const received: Buffer[] = [];
  const sent: Buffer[] = [];
  for (const [index, { bytes, isAnswered, delayMs }] of script.sends.entries()) {
    await wait(delayMs, scene);
    if (!(await dialog.send(bytes))) break;
    sent.push(bytes);
    const answer = isAnswered ? await dialog.receive() : undefined;
    if (answer !== undefined) received.push(answer);
    if (isAnswered && answer?.equals(script.answers[index] as Buffer) !== true) break;
  }
  const wanted = script.answers.filter((_, index) => script.sends[index]?.isAnswered);
  const hasAll = received.length === wanted.length;
  dialog.close();
  return {
    ...{ ip: dialog.ip, port: dialog.port, connect: dialog.connect, ttfbMs: dialog.ttfbMs },
    isComplete: sent.length === script.sends.length,
    sentBytes: sent.reduce((sum, { length }) => sum + length, 0),
    sentSha256: joinedHash(script.sends.map(({ bytes }) => hashOfBytes(bytes))),
    end: hasAll ? 'response' : dialog.isOpen ? 'timeout' : 'none',
    status: 0,
    rxBytes: received.reduce((sum, { length }) => sum + length, 0),
    rxSha256: joinedHash(received.map(hashOfBytes)),
    responseIsOurs:
      received.length > 0 && received.every((bytes, index) => beginsAlike(bytes, wanted[index] as Buffer)),
    ...(dialog.ownError !== undefined && { error: dialog.ownError }),
  };
};

export const attemptRaw = (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> =>
  route.transport === 'udp' ? overUdp(attempt, route, scene) : overTcp(attempt, route, scene);

export const proveRaw = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const wanted = proofAnswer(scene, nonce);
  const dialog = route.transport === 'udp' ? await PacketDialog.open(route) : await Dialog.open(route, scene);
  let answer = Buffer.alloc(0);
  if (dialog instanceof PacketDialog) {
    if (await dialog.send(proofRequest(nonce))) answer = Buffer.from((await dialog.receive()) ?? answer);
  } else if (dialog.isOpen && (await dialog.write(proofRequest(nonce))))
    answer = Buffer.from(await readUpTo(dialog, wanted.length));
  const { ip, connect } = dialog;
  dialog.close();
  const isGood = answer.equals(wanted);
  return { ip, isGood, detail: isGood ? '' : `${answer.length} bytes that are no proof; connect ${connect}` };
};
