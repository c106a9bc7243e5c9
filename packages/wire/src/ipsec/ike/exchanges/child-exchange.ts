import { ChildSa } from '../child-sa.ts';
import type { IkeSa } from '../ike-sa.ts';
import { deriveChildKeys, type Nonces } from '../key-schedule.ts';
import { type IkePayload, readUint32, writeUint32 } from '../messages/message.ts';
import { notifyType, payloadType } from '../messages/numbers.ts';
import type { PayloadSet } from '../messages/payload-set.ts';
import { notify, readSa, readSelectors, type TrafficSelector, writeSa, writeSelectors } from '../messages/payloads.ts';
import { anySelector, narrowSelectors, selectorOf } from '../messages/selectors.ts';
import { type Choice, chooseProposal, proposalsOf } from '../messages/suites.ts';
import type { ChildSelectors } from '../peer.ts';

/** Rekeying starts up to this part earlier, so that many SAs are not renewed at the same time. */
const jitter = 0.1;

export const spiOf = (spi: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeUint32(bytes, 0, spi);
  return bytes;
};

export const spiIn = (bytes: Uint8Array): number => (bytes.length === 4 ? readUint32(bytes, 0) : 0);

/** A time within the last tenth before `ms` from now. */
export const rekeyTime = ({ owner }: IkeSa, ms: number): number => {
  if (ms === 0) return Number.POSITIVE_INFINITY;
  const part = (owner.crypto.random(1)[0] as number) / 256;
  return owner.nowMs + ms * (1 - jitter * part);
};

export const expiryTime = ({ owner }: IkeSa, ms: number): number =>
  ms === 0 ? Number.POSITIVE_INFINITY : owner.nowMs + ms;

/** Selectors that a child SA is asked for with. An initiator that gets its address asks for any. */
const wantedSelectors = (sa: IkeSa, { local, remote }: ChildSelectors): ChildSelectors => {
  const version = sa.peer.requestsAddress;
  if (version === undefined) return { local, remote };
  const assigned = sa.innerAddress;
  return { local: [assigned === undefined ? anySelector(version) : selectorOf(assigned, assigned)], remote };
};

export interface ChildRequest {
  readonly spi: number;
  readonly index: number;
  readonly wanted: ChildSelectors;
  readonly hasGroups: boolean;
}

/** A request for the child SA with an index, or in place of another one. */
export const createChildRequest = (
  sa: IkeSa,
  index: number,
  { hasGroups, replaced }: { readonly hasGroups: boolean; readonly replaced?: ChildSa },
): ChildRequest => {
  const configured = sa.peer.children[index] ?? sa.peer.children[0] ?? { local: [], remote: [] };
  const wanted =
    replaced === undefined ? wantedSelectors(sa, configured) : { local: replaced.local, remote: replaced.remote };
  return { spi: sa.owner.allocateSpi(), index, wanted, hasGroups };
};

/** SA, selectors and mode of a request; other payloads go in between. */
export const childRequestPayloads = (sa: IkeSa, { spi, wanted, hasGroups }: ChildRequest) => ({
  sa: writeSa(proposalsOf(sa.peer.espOffers, { spi: spiOf(spi), hasGroups })),
  selectors: [
    writeSelectors(payloadType.tsInitiator, wanted.local),
    writeSelectors(payloadType.tsResponder, wanted.remote),
  ],
  mode: modePayloads(sa.peer.isTransport),
});

const noTfcPadding = notify(notifyType.espTfcPaddingNotSupported);

const modePayloads = (isTransport: boolean): IkePayload[] => [
  ...(isTransport ? [notify(notifyType.useTransportMode)] : []),
  noTfcPadding,
];

export interface ChildKeyMaterial {
  readonly nonces: Nonces;
  readonly shared?: Uint8Array | undefined;
}

interface NewChild {
  readonly choice: Choice;
  readonly inboundSpi: number;
  readonly outboundSpi: number;
  readonly local: readonly TrafficSelector[];
  readonly remote: readonly TrafficSelector[];
  readonly index: number;
  /** This side began the exchange. */
  readonly isInitiator: boolean;
  readonly isTransport: boolean;
  readonly material: ChildKeyMaterial;
}

const installChild = (sa: IkeSa, child: NewChild): ChildSa => {
  const { crypto, peer } = sa;
  const { suite } = child.choice;
  const keys = deriveChildKeys(crypto, {
    suite,
    prf: sa.suite?.prf ?? 0,
    derivation: sa.derivation,
    ...child.material,
  });
  const [own, other] = child.isInitiator ? [keys.initiator, keys.responder] : [keys.responder, keys.initiator];
  const installed = new ChildSa(crypto, {
    ...child,
    suite,
    outboundKeys: own,
    inboundKeys: other,
    replayWindow: peer.replayWindow,
    nowMs: sa.owner.nowMs,
  });
  installed.rekeyAt = rekeyTime(sa, peer.timers.rekeyMs);
  installed.expireAt = expiryTime(sa, peer.timers.lifetimeMs);
  sa.children.push(installed);
  return installed;
};

/** Notifies the owner, after which the keys are known to the ciphers only. */
export const announceChild = (sa: IkeSa, child: ChildSa, replaced?: ChildSa): void => {
  sa.owner.events.onChildUp(sa, child, replaced);
  child.keys = undefined;
};

/** The child SA of a response; a number: the notification that describes why there is none. */
export const acceptChild = (
  sa: IkeSa,
  request: ChildRequest,
  { answer, material }: { readonly answer: PayloadSet; readonly material: ChildKeyMaterial },
): ChildSa | number => {
  const { error } = answer;
  const body = answer.find(payloadType.sa);
  if (body === undefined) return error?.type ?? notifyType.invalidSyntax;
  const choice = chooseProposal(readSa(body), sa.peer.espOffers, { hasGroups: request.hasGroups });
  if (choice === undefined) return notifyType.noProposalChosen;
  const local = narrowSelectors(readSelectors(answer.get(payloadType.tsInitiator)), request.wanted.local);
  const remote = narrowSelectors(readSelectors(answer.get(payloadType.tsResponder)), request.wanted.remote);
  if (local.length === 0 || remote.length === 0) return notifyType.tsUnacceptable;
  const outboundSpi = spiIn(choice.proposal.spi);
  if (outboundSpi === 0) return notifyType.invalidSyntax;
  const isTransport = sa.peer.isTransport && answer.notification(notifyType.useTransportMode) !== undefined;
  if (sa.peer.isTransport !== isTransport) return notifyType.noProposalChosen;
  const { spi: inboundSpi, index } = request;
  return installChild(sa, {
    choice,
    inboundSpi,
    outboundSpi,
    local,
    remote,
    index,
    isInitiator: true,
    isTransport,
    material,
  });
};

interface Matched {
  readonly index: number;
  readonly local: readonly TrafficSelector[];
  readonly remote: readonly TrafficSelector[];
}

/** The configured child SA that what the initiator asks for fits into best: the first unused one. */
const matchSelectors = (sa: IkeSa, request: PayloadSet, replaced: ChildSa | undefined): Matched | undefined => {
  const offeredRemote = readSelectors(request.get(payloadType.tsInitiator));
  const offeredLocal = readSelectors(request.get(payloadType.tsResponder));
  if (replaced !== undefined) {
    const remote = narrowSelectors(offeredRemote, replaced.remote);
    const local = narrowSelectors(offeredLocal, replaced.local);
    return remote.length > 0 && local.length > 0 ? { index: replaced.index, local, remote } : undefined;
  }
  const used = new Set(sa.children.map(({ index }) => index));
  const assigned = sa.innerAddress;
  const matches = sa.peer.children.flatMap((child, index) => {
    const remote = narrowSelectors(offeredRemote, assigned ? [selectorOf(assigned, assigned)] : child.remote);
    const local = narrowSelectors(offeredLocal, child.local);
    return remote.length > 0 && local.length > 0 ? [{ index, local, remote }] : [];
  });
  return matches.find(({ index }) => !used.has(index)) ?? matches[0];
};

interface ChildAnswerOptions {
  readonly material: ChildKeyMaterial;
  readonly hasGroups: boolean;
  /** Of the key exchange that the initiator has begun. */
  readonly group?: number | undefined;
  readonly replaced?: ChildSa | undefined;
}

/** Creates the child SA that an initiator asks for, and the payloads of the answer. A number: the error. */
export const answerChild = (
  sa: IkeSa,
  request: PayloadSet,
  { material, hasGroups, group, replaced }: ChildAnswerOptions,
): { child: ChildSa; payloads: IkePayload[] } | number => {
  const { peer } = sa;
  const choice = chooseProposal(readSa(request.get(payloadType.sa)), peer.espOffers, { hasGroups, group });
  const outboundSpi = choice === undefined ? 0 : spiIn(choice.proposal.spi);
  if (choice === undefined || outboundSpi === 0) return notifyType.noProposalChosen;
  const isTransport = request.notification(notifyType.useTransportMode) !== undefined;
  if (isTransport !== peer.isTransport) return notifyType.noProposalChosen;
  const matched = matchSelectors(sa, request, replaced);
  if (matched === undefined) return notifyType.tsUnacceptable;
  const inboundSpi = sa.owner.allocateSpi();
  const child = installChild(sa, {
    choice,
    inboundSpi,
    outboundSpi,
    ...matched,
    isInitiator: false,
    isTransport,
    material,
  });
  return {
    child,
    payloads: [
      writeSa([{ ...choice.proposal, spi: spiOf(inboundSpi) }]),
      writeSelectors(payloadType.tsInitiator, matched.remote),
      writeSelectors(payloadType.tsResponder, matched.local),
      ...modePayloads(isTransport),
    ],
  };
};
