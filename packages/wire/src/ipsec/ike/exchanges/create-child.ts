import { copyOf } from '../../../bytes/memory.ts';
import type { ChildSa } from '../child-sa.ts';
import type { KeyExchange } from '../crypto.ts';
import type { IkeSa } from '../ike-sa.ts';
import { type IkePayload, viewOf } from '../messages/message.ts';
import { exchangeType, notifyName, notifyType, payloadType, protocolId } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import {
  notify,
  readKeyExchange,
  readNonce,
  readSa,
  writeKeyExchange,
  writeNonce,
  writeNotify,
} from '../messages/payloads.ts';
import { compareBytes } from '../messages/selectors.ts';
import { chooseProposal } from '../messages/suites.ts';
import {
  acceptChild,
  announceChild,
  answerChild,
  type ChildRequest,
  childRequestPayloads,
  createChildRequest,
  spiIn,
  spiOf,
} from './child-exchange.ts';

const nonceBytes = 32;
/** A task that meets a temporary failure is tried again after this time. */
const retryMs = 2000;
/** A rekey that was refused is tried again after this time. */
const rekeyRetryMs = 10_000;

export const lowerNonce = (a: Uint8Array, b: Uint8Array): Uint8Array => (compareBytes(a, b) <= 0 ? a : b);

/** Tries the task again later. */
const postpone = (sa: IkeSa, task: Parameters<IkeSa['addTask']>[0]): void => {
  sa.tasksAt = sa.owner.nowMs + retryMs;
  sa.addTask(task);
};

interface Attempt {
  readonly request: ChildRequest;
  readonly replaced: ChildSa | undefined;
  readonly nonce: Uint8Array;
  readonly exchange: KeyExchange | undefined;
  readonly group: number;
}

/** Asks for a further child SA, or for one in place of another. */
export const startCreateChild = (sa: IkeSa, index: number, replaced?: ChildSa, group?: number): void => {
  const wanted = group ?? sa.peer.espOffers[0]?.groups[0] ?? 0;
  const hasGroups = sa.peer.espOffers.some(({ groups }) => groups.length > 0);
  const request = createChildRequest(sa, index, { hasGroups, ...(replaced && { replaced }) });
  const exchange = wanted === 0 ? undefined : sa.crypto.createKeyExchange(wanted);
  const attempt: Attempt = { request, replaced, nonce: sa.crypto.random(nonceBytes), exchange, group: wanted };
  const { sa: proposals, selectors, mode } = childRequestPayloads(sa, request);
  if (replaced !== undefined) replaced.state = 'rekeying';
  const payloads = [
    ...(replaced === undefined ? [] : [rekeyNotification(replaced)]),
    ...mode,
    proposals,
    writeNonce(attempt.nonce),
    ...(exchange === undefined ? [] : [writeKeyExchange(wanted, exchange.publicValue)]),
    ...selectors,
  ];
  sa.request(exchangeType.createChild, payloads, (reply) => finishCreateChild(sa, attempt, new PayloadSet(reply)));
};

const rekeyNotification = (child: ChildSa): IkePayload =>
  writeNotify({
    type: notifyType.rekeySa,
    protocol: protocolId.esp,
    spi: spiOf(child.inbound.spi),
    data: new Uint8Array(0),
  });

const finishCreateChild = (sa: IkeSa, attempt: Attempt, answer: PayloadSet): void => {
  const { replaced } = attempt;
  const installed = installAnswer(sa, attempt, answer);
  if (typeof installed === 'number') {
    refused(sa, attempt, { type: installed, answer });
    return;
  }
  if (replaced === undefined) {
    announceChild(sa, installed);
    return;
  }
  const responderNonce = readNonce(answer.get(payloadType.nonce));
  installed.rekeys = replaced.rekeys + 1;
  const { collision } = replaced;
  const own = lowerNonce(attempt.nonce, responderNonce);
  if (collision !== undefined && compareBytes(own, collision.nonce) < 0) {
    // The exchange with the lowest nonce loses: its SA goes, and the peer deletes the old one.
    sa.addTask({ kind: 'deleteChild', child: installed });
    return;
  }
  replaced.state = 'rekeyed';
  announceChild(sa, installed, replaced);
  sa.addTask({ kind: 'deleteChild', child: replaced });
};

/** A number: the notification that describes why there is no child SA. */
const installAnswer = (sa: IkeSa, { request, nonce, exchange, group }: Attempt, answer: PayloadSet) => {
  if (answer.find(payloadType.sa) === undefined) return answer.error?.type ?? notifyType.invalidSyntax;
  const responder = copyOf(readNonce(answer.get(payloadType.nonce)));
  const value = answer.find(payloadType.keyExchange);
  let shared: Uint8Array | undefined;
  if (exchange !== undefined && value !== undefined) {
    const received = readKeyExchange(value);
    if (received.group !== group) return notifyType.invalidSyntax;
    try {
      shared = exchange.derive(received.data);
    } catch {
      return notifyType.invalidSyntax;
    }
  }
  const material = { nonces: { initiator: nonce, responder }, shared };
  return acceptChild(sa, { ...request, hasGroups: shared !== undefined }, { answer, material });
};

const refused = (
  sa: IkeSa,
  { request, replaced, group }: Attempt,
  { type, answer }: { type: number; answer: PayloadSet },
): void => {
  const data = answer.notification(notifyType.invalidKe)?.data;
  const other = type === notifyType.invalidKe && data?.length === 2 ? viewOf(data).getUint16(0) : undefined;
  const isOffered = other !== undefined && sa.peer.espOffers.some(({ groups }) => groups.includes(other));
  if (isOffered && other !== group) {
    startCreateChild(sa, request.index, replaced, other);
    return;
  }
  if (replaced === undefined) {
    if (type === notifyType.temporaryFailure) postpone(sa, { kind: 'createChild', index: request.index });
    else sa.owner.events.onChildFailed(sa, request.index, notifyName(type));
    return;
  }
  if (replaced.collision !== undefined) return;
  if (type === notifyType.childSaNotFound) {
    sa.removeChild(replaced);
    sa.addTask({ kind: 'createChild', index: replaced.index });
    return;
  }
  if (replaced.state === 'rekeying') replaced.state = 'installed';
  replaced.rekeyAt = sa.owner.nowMs + (type === notifyType.temporaryFailure ? retryMs : rekeyRetryMs);
};

/** Answers a request for a child SA: a further one, or one in place of another. */
export const answerCreateChild = (sa: IkeSa, request: PayloadSet): IkePayload[] => {
  const rekey = request.notification(notifyType.rekeySa);
  const replaced = rekey && sa.children.find(({ outbound }) => outbound.spi === spiIn(rekey.spi ?? spiOf(0)));
  if (rekey !== undefined && replaced === undefined) {
    return [
      writeNotify({
        type: notifyType.childSaNotFound,
        protocol: protocolId.esp,
        spi: rekey.spi ?? spiOf(0),
        data: new Uint8Array(0),
      }),
    ];
  }
  if (replaced?.state === 'deleting' || replaced?.state === 'rekeyed') return [notify(notifyType.temporaryFailure)];
  const initiator = copyOf(readNonce(request.get(payloadType.nonce)));
  const responder = sa.crypto.random(nonceBytes);
  const exchanged = answerExchange(sa, request);
  if (typeof exchanged === 'object' && 'type' in exchanged) return [exchanged];
  const { shared, group, publicValue } = exchanged;
  const material = { nonces: { initiator, responder }, shared };
  const answer = answerChild(sa, request, { material, hasGroups: group !== 0, group, replaced });
  if (typeof answer === 'number') return [notify(answer)];
  const { child, payloads } = answer;
  if (replaced === undefined) announceChild(sa, child);
  else adopt(sa, { child, replaced, nonce: lowerNonce(initiator, responder) });
  const [first, ...rest] = payloads;
  return [
    first as IkePayload,
    writeNonce(responder),
    ...(publicValue === undefined ? [] : [writeKeyExchange(group, publicValue)]),
    ...rest,
  ];
};

const adopt = (
  sa: IkeSa,
  { child, replaced, nonce }: { child: ChildSa; replaced: ChildSa; nonce: Uint8Array },
): void => {
  child.rekeys = replaced.rekeys + 1;
  if (replaced.state === 'rekeying') replaced.collision = { child, nonce };
  else replaced.state = 'rekeyed';
  replaced.rekeyAt = Number.POSITIVE_INFINITY;
  announceChild(sa, child, replaced);
};

interface Exchanged {
  readonly shared: Uint8Array | undefined;
  readonly group: number;
  readonly publicValue: Uint8Array | undefined;
}

/** The key exchange of a request, if it has one and the offers want one; a payload: the error. */
const answerExchange = (sa: IkeSa, request: PayloadSet): Exchanged | IkePayload => {
  const value = request.find(payloadType.keyExchange);
  const given = value === undefined ? undefined : readKeyExchange(value);
  const proposals = readSa(request.get(payloadType.sa));
  const wantsGroup = sa.peer.espOffers.some(({ groups }) => groups.length > 0);
  const choice = chooseProposal(proposals, sa.peer.espOffers, { group: given?.group, hasGroups: wantsGroup });
  const group = choice?.suite.group ?? 0;
  if (choice === undefined) return notify(notifyType.noProposalChosen);
  if (group === 0) return { shared: undefined, group: 0, publicValue: undefined };
  if (given?.group !== group) return notify(notifyType.invalidKe, Uint8Array.of(group >>> 8, group & 255));
  const exchange = sa.crypto.createKeyExchange(group);
  try {
    return { shared: exchange.derive(given.data), group, publicValue: exchange.publicValue };
  } catch {
    return notify(notifyType.invalidSyntax);
  }
};
