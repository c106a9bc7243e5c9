import { copyOf } from '../../../bytes/memory.ts';
import type { KeyExchange } from '../crypto.ts';
import type { IkeSa } from '../ike-sa.ts';
import type { IkePayload } from '../messages/message.ts';
import { exchangeType, notifyType, payloadType } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import {
  notify,
  readKeyExchange,
  readNonce,
  readSa,
  writeKeyExchange,
  writeNonce,
  writeSa,
} from '../messages/payloads.ts';
import { compareBytes } from '../messages/selectors.ts';
import { chooseProposal, type Offer, proposalsOf } from '../messages/suites.ts';
import { startTimers } from './auth-exchange.ts';
import { lowerNonce } from './create-child.ts';

const nonceBytes = 32;
const retryMs = 10_000;

/** Keys of the SA that the new one replaces. */
const previousOf = ({ suite, derivation }: IkeSa) => ({
  prf: suite?.prf ?? 0,
  derivation,
});

/** New keys are derived from the old ones, which a second key exchange is part of: it is not repeated. */
const rekeyOffers = ({ peer }: IkeSa): Offer[] => peer.ikeOffers.map(({ additional: _, ...offer }) => offer);

/** Begins an IKE SA in place of this one. */
export const startRekeyIke = (sa: IkeSa): void => {
  const group = sa.suite?.group ?? 0;
  const next = sa.owner.createReplacement(sa, { isInitiator: true });
  const exchange = sa.crypto.createKeyExchange(group);
  const nonce = sa.crypto.random(nonceBytes);
  const payloads = [
    writeSa(proposalsOf(rekeyOffers(sa), { spi: next.localSpi })),
    writeNonce(nonce),
    writeKeyExchange(group, exchange.publicValue),
  ];
  sa.replacement = next;
  sa.request(exchangeType.createChild, payloads, (reply) =>
    finishRekey(sa, next, { answer: new PayloadSet(reply), exchange, nonce, group }),
  );
};

interface RekeyAnswer {
  readonly answer: PayloadSet;
  readonly exchange: KeyExchange;
  readonly nonce: Uint8Array;
  readonly group: number;
}

const finishRekey = (sa: IkeSa, next: IkeSa, reply: RekeyAnswer): void => {
  const responder = setReplacementKeys(sa, next, reply);
  const { collision } = sa;
  sa.replacement = undefined;
  if (responder === undefined) {
    next.close('replaced');
    if (collision === undefined) sa.rekeyAt = sa.owner.nowMs + retryMs;
    else moveTo(sa, collision.sa);
    return;
  }
  if (collision !== undefined && compareBytes(lowerNonce(reply.nonce, responder), collision.nonce) < 0) {
    next.addTask({ kind: 'delete' });
    next.reschedule();
    moveTo(sa, collision.sa);
    return;
  }
  moveTo(sa, next);
  sa.addTask({ kind: 'delete' });
};

/** Returns the nonce of the responder; undefined when the answer has no usable keys. */
const setReplacementKeys = (sa: IkeSa, next: IkeSa, { answer, exchange, nonce, group }: RekeyAnswer) => {
  const body = answer.find(payloadType.sa);
  const choice = body && chooseProposal(readSa(body), rekeyOffers(sa), { group });
  if (choice === undefined || choice.suite.group !== group || choice.proposal.spi.length !== 8) return undefined;
  const responder = copyOf(readNonce(answer.get(payloadType.nonce)));
  next.remoteSpi = choice.proposal.spi.slice();
  try {
    const shared = exchange.derive(readKeyExchange(answer.get(payloadType.keyExchange)).data);
    next.setKeys(choice.suite, { nonces: { initiator: nonce, responder }, shared, previous: previousOf(sa) });
  } catch {
    return undefined;
  }
  next.state = 'established';
  return responder;
};

/** Child SAs, identities and timers go over to the new SA. */
const moveTo = (sa: IkeSa, next: IkeSa): void => {
  next.innerAddress = sa.innerAddress;
  next.hasNat = sa.hasNat;
  next.isBehindNat = sa.isBehindNat;
  next.keepaliveAt = sa.keepaliveAt;
  next.canFragment = sa.canFragment;
  next.isMobile = sa.isMobile;
  next.establishedMs = sa.establishedMs;
  next.rekeys = sa.rekeys + 1;
  next.context = sa.context;
  next.children.push(...sa.children);
  sa.children.length = 0;
  for (const task of sa.tasks) if (task.kind !== 'rekeyIke' && task.kind !== 'check') next.addTask(task);
  sa.tasks.length = 0;
  sa.rekeyAt = Number.POSITIVE_INFINITY;
  sa.isReplaced = true;
  startTimers(next);
  sa.owner.events.onReplaced(sa, next);
  next.reschedule();
};

/** Answers a peer that replaces the IKE SA. */
export const answerRekeyIke = (sa: IkeSa, request: PayloadSet): IkePayload[] => {
  const { group, data } = readKeyExchange(request.get(payloadType.keyExchange));
  const initiator = copyOf(readNonce(request.get(payloadType.nonce)));
  const choice = chooseProposal(readSa(request.get(payloadType.sa)), rekeyOffers(sa), { group });
  if (choice === undefined || choice.proposal.spi.length !== 8) return [notify(notifyType.noProposalChosen)];
  const { suite } = choice;
  if (suite.group !== group) return [notify(notifyType.invalidKe, Uint8Array.of(suite.group >>> 8, suite.group & 255))];
  const exchange = sa.crypto.createKeyExchange(group);
  let shared: Uint8Array;
  try {
    shared = exchange.derive(data);
  } catch {
    return [notify(notifyType.invalidSyntax)];
  }
  const next = sa.owner.createReplacement(sa, { isInitiator: false });
  next.remoteSpi = choice.proposal.spi.slice();
  const responder = sa.crypto.random(nonceBytes);
  next.setKeys(suite, { nonces: { initiator, responder }, shared, previous: previousOf(sa) });
  next.state = 'established';
  if (sa.replacement === undefined) moveTo(sa, next);
  else sa.collision = { sa: next, nonce: lowerNonce(initiator, responder) };
  return [
    writeSa([{ ...choice.proposal, spi: next.localSpi }]),
    writeNonce(responder),
    writeKeyExchange(group, exchange.publicValue),
  ];
};
