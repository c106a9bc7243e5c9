import { copyOf } from '../../bytes/memory.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import { formatMac } from '../../ethernet/ethernet.ts';
import type { SessionCause } from '../causes.ts';
import type { AuthDecision, AuthQuestion } from '../ppp/authentication.ts';
import { authMethod } from '../ppp/lcp.ts';
import type { RadiusClient, RadiusOutcome } from './client.ts';
import {
  eapAttributes,
  findAttribute,
  findMicrosoft,
  findNumber,
  joinBytes,
  joinedAttributes,
  microsoft,
  microsoftAttribute,
  numberAttribute,
  type RadiusAttribute,
  radiusAttribute,
  textAttribute,
} from './message.ts';

/** What a server grants to a user that it lets in. */
export interface RadiusGrant {
  readonly userName: string;
  /** 0: any. */
  readonly address: number;
  /** Name of the pool that the address is taken from; empty: any. */
  readonly pool: string;
  /** 0: without an end. */
  readonly sessionMs: number;
  /** 0: no records between start and stop. */
  readonly interimSec: number;
  /** Sent back in accounting as they came. */
  readonly classes: readonly RadiusAttribute[];
}

/** Packets and bytes from and to a subscriber. */
export interface RadiusUsage {
  readonly rxPackets: number;
  readonly txPackets: number;
  readonly rxBytes: number;
  readonly txBytes: number;
}

export interface RadiusSessionsOptions {
  readonly nasIdentifier: string;
  /** Name of the interface. */
  readonly portName: string;
  readonly isPpp: boolean;
  readonly accounting: boolean;
  /** 0: none, unless the server asks for them. */
  readonly interimSec: number;
}

/** Sessions of one port, by their numbers. */
export interface RadiusSessionsHost {
  readonly client: RadiusClient;
  readonly random: () => number;
  /** Without a MAC: the subscriber is at no port, as behind a tunnel. */
  lineOf(session: number): { readonly mac: Uint8Array | undefined; readonly tags: number };
  usageOf(session: number): RadiusUsage;
}

interface Account {
  readonly id: string;
  readonly startMs: number;
  readonly attributes: readonly RadiusAttribute[];
}

const status = { start: 1, stop: 2, interim: 3 } as const;
const terminate = { userRequest: 1, lostCarrier: 2, sessionTimeout: 5, adminReset: 6, nasError: 9 } as const;
/** Why a session is over; a supplicant may log off. */
type EndCause = SessionCause | 'logoff';

const terminateCauses: Partial<Record<EndCause, number>> = {
  logoff: terminate.userRequest,
  stopped: terminate.adminReset,
  'link down': terminate.lostCarrier,
  'PPPoE: ended by the concentrator': terminate.userRequest,
  'LCP: ended by the peer': terminate.userRequest,
  'L2TP: call ended by the peer': terminate.userRequest,
  'L2TP: tunnel ended by the peer': terminate.lostCarrier,
  'L2TP: tunnel without answer': terminate.lostCarrier,
  'LCP: echo without answer': terminate.lostCarrier,
  'DHCP: lease expired': terminate.lostCarrier,
  'RADIUS: session time over': terminate.sessionTimeout,
};

const portType = { virtual: 5, ethernet: 15, pppoe: 33, pppoeVlan: 34, pppoeQinQ: 35 } as const;
const service = { framed: 2 } as const;
const framed = { ppp: 1 } as const;
const authentic = { radius: 1 } as const;
const second = 1000;
/** Messages of EAP fit into frames with all tags. */
const eapMtu = 1400;
const wordRange = 2 ** 32;
/** Values of Framed-IP-Address that leave the choice to the user or to the gateway. */
const anyAddress = -2;
const decoder = new TextDecoder();
const { userName, framedAddress } = radiusAttribute;

const textOf = (bytes: Uint8Array | undefined): string => decoder.decode(bytes ?? new Uint8Array(0));

/** What an Access-Accept grants. */
export const grantOf = (name: string, attributes: readonly RadiusAttribute[], interimSec: number): RadiusGrant => {
  const address = (findNumber(attributes, framedAddress) ?? 0) | 0;
  const renamed = findAttribute(attributes, userName);
  return {
    userName: renamed === undefined ? name : textOf(renamed),
    address: address === anyAddress || address === -1 ? 0 : address,
    pool: textOf(findAttribute(attributes, radiusAttribute.framedPool)),
    sessionMs: (findNumber(attributes, radiusAttribute.sessionTimeout) ?? 0) * second,
    interimSec: findNumber(attributes, radiusAttribute.acctInterimInterval) ?? interimSec,
    classes: attributes.flatMap(({ type, value }) =>
      type === radiusAttribute.class ? [{ type, value: copyOf(value) }] : [],
    ),
  };
};

/** Who a gateway is and where a subscriber is, for every request. */
export const lineAttributes = (
  { nasIdentifier, portName, isPpp }: Omit<RadiusSessionsOptions, 'accounting' | 'interimSec'>,
  { mac, tags }: { readonly mac: Uint8Array | undefined; readonly tags: number },
): RadiusAttribute[] => {
  const [outer, inner] = [(tags >>> 16) & 0xfff, tags & 0xfff];
  const vlans = [outer, inner].filter((vlan) => vlan > 0);
  const pppType = [portType.pppoe, portType.pppoeVlan, portType.pppoeQinQ][vlans.length] as number;
  const lineType = isPpp ? pppType : portType.ethernet;
  const stationId = mac === undefined ? [] : [formatMac(mac).replaceAll(':', '-').toUpperCase()];
  return [
    textAttribute(radiusAttribute.nasIdentifier, nasIdentifier),
    numberAttribute(radiusAttribute.nasPortType, mac === undefined ? portType.virtual : lineType),
    textAttribute(radiusAttribute.nasPortId, [portName, ...vlans].join('.')),
    ...stationId.map((id) => textAttribute(radiusAttribute.callingStationId, id)),
  ];
};

/** What proves who a client of PPP is; the password of PAP is hidden by the client of RADIUS. */
const proofAttributes = ({ method, id, challenge, value }: AuthQuestion): RadiusAttribute[] => {
  if (method === authMethod.chapMd5)
    return [
      { type: radiusAttribute.chapPassword, value: joinBytes([Uint8Array.of(id), value]) },
      { type: radiusAttribute.chapChallenge, value: challenge },
    ];
  if (method === authMethod.pap) return [];
  const response = joinBytes([Uint8Array.of(id, 0), value.subarray(0, 48)]);
  return [
    microsoftAttribute(microsoft.chapChallenge, challenge),
    microsoftAttribute(microsoft.chap2Response, response),
  ];
};

/** Sessions of a port that a RADIUS server decides about and keeps account of. */
export class RadiusSessions {
  readonly #host: RadiusSessionsHost;
  readonly #options: RadiusSessionsOptions;
  readonly #grants = new Map<number, RadiusGrant>();
  /** State of conversations of EAP. */
  readonly #states = new Map<number, Uint8Array>();
  readonly #accounts = new Map<number, Account>();
  readonly #wheel = new TimerWheel(0);
  /** Makes the ids of this gateway differ from those of others. */
  readonly #prefix: string;
  #count = 0;
  #nowMs = 0;

  constructor(host: RadiusSessionsHost, options: RadiusSessionsOptions) {
    this.#host = host;
    this.#options = options;
    this.#prefix = Math.floor(host.random() * wordRange)
      .toString(16)
      .padStart(8, '0');
  }

  grantOf(session: number): RadiusGrant | undefined {
    return this.#grants.get(session);
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#wheel.advance(Math.floor(nowMs / second), (session) => this.#sendInterim(session));
  }

  /** Asks about a client of PPP. */
  ask(session: number, question: AuthQuestion, answer: (decision: AuthDecision) => void): void {
    const attributes = [
      textAttribute(userName, question.userName),
      ...this.#base(session),
      ...proofAttributes(question),
    ];
    this.#host.client.authenticate(
      attributes,
      (outcome, given) => {
        if (outcome === 'accept')
          this.#grants.set(session, grantOf(question.userName, given, this.#options.interimSec));
        answer(decisionOf(outcome, given, question));
      },
      question.method === authMethod.pap ? question.value : undefined,
    );
  }

  /** Passes a message of EAP to the server; the answer has one for the supplicant, or none. */
  askEap(
    session: number,
    identity: string,
    packet: Uint8Array,
    done: (outcome: RadiusOutcome, answer: Uint8Array) => void,
  ): void {
    const state = this.#states.get(session);
    const attributes = [
      textAttribute(userName, identity),
      ...this.#base(session),
      numberAttribute(radiusAttribute.framedMtu, eapMtu),
      ...eapAttributes(packet),
      ...(state === undefined ? [] : [{ type: radiusAttribute.state, value: state }]),
    ];
    this.#host.client.authenticate(attributes, (outcome, given) => {
      const next = findAttribute(given, radiusAttribute.state);
      if (outcome === 'challenge' && next !== undefined) this.#states.set(session, copyOf(next));
      else this.#states.delete(session);
      if (outcome === 'accept') this.#grants.set(session, grantOf(identity, given, this.#options.interimSec));
      done(outcome, joinedAttributes(given, radiusAttribute.eapMessage));
    });
  }

  /** A conversation of EAP begins from the start. */
  forget(session: number): void {
    this.#states.delete(session);
  }

  /** A session is up. */
  start(session: number, address: number): void {
    const grant = this.#grants.get(session);
    if (grant === undefined || !this.#options.accounting || this.#accounts.has(session)) return;
    const account: Account = {
      id: `${this.#prefix}${(this.#count++).toString(16).padStart(8, '0')}`,
      startMs: this.#nowMs,
      attributes: [
        textAttribute(userName, grant.userName),
        ...this.#base(session),
        ...grant.classes,
        ...(address === 0 ? [] : [numberAttribute(framedAddress, address)]),
        numberAttribute(radiusAttribute.acctAuthentic, authentic.radius),
      ],
    };
    this.#accounts.set(session, account);
    this.#send(account, status.start, []);
    this.#setInterim(session, grant);
  }

  /** A session is over, or was refused. */
  end(session: number, cause: EndCause): void {
    const account = this.#accounts.get(session);
    this.#grants.delete(session);
    this.#accounts.delete(session);
    this.#wheel.clear(session);
    if (account === undefined) return;
    const code = terminateCauses[cause] ?? terminate.nasError;
    this.#send(account, status.stop, [
      ...this.#usage(session, account),
      numberAttribute(radiusAttribute.acctTerminateCause, code),
    ]);
  }

  #sendInterim(session: number): void {
    const [account, grant] = [this.#accounts.get(session), this.#grants.get(session)];
    if (account === undefined || grant === undefined) return;
    this.#send(account, status.interim, this.#usage(session, account));
    this.#setInterim(session, grant);
  }

  #setInterim(session: number, { interimSec }: RadiusGrant): void {
    if (interimSec > 0) this.#wheel.set(session, Math.floor(this.#nowMs / second) + interimSec);
  }

  #send({ id, attributes }: Account, kind: number, more: readonly RadiusAttribute[]): void {
    this.#host.client.account([
      numberAttribute(radiusAttribute.acctStatusType, kind),
      textAttribute(radiusAttribute.acctSessionId, id),
      ...attributes,
      ...more,
    ]);
  }

  #usage(session: number, { startMs }: Account): RadiusAttribute[] {
    const { rxBytes, txBytes, rxPackets, txPackets } = this.#host.usageOf(session);
    return [
      numberAttribute(radiusAttribute.acctSessionTime, Math.round((this.#nowMs - startMs) / second)),
      numberAttribute(radiusAttribute.acctInputOctets, rxBytes % wordRange),
      numberAttribute(radiusAttribute.acctInputGigawords, Math.floor(rxBytes / wordRange)),
      numberAttribute(radiusAttribute.acctOutputOctets, txBytes % wordRange),
      numberAttribute(radiusAttribute.acctOutputGigawords, Math.floor(txBytes / wordRange)),
      numberAttribute(radiusAttribute.acctInputPackets, rxPackets),
      numberAttribute(radiusAttribute.acctOutputPackets, txPackets),
    ];
  }

  #base(session: number): RadiusAttribute[] {
    return [
      ...lineAttributes(this.#options, this.#host.lineOf(session)),
      numberAttribute(radiusAttribute.serviceType, service.framed),
      ...(this.#options.isPpp ? [numberAttribute(radiusAttribute.framedProtocol, framed.ppp)] : []),
    ];
  }
}

/** The decision for a client of PPP. */
const decisionOf = (
  outcome: RadiusOutcome,
  attributes: readonly RadiusAttribute[],
  { method }: AuthQuestion,
): AuthDecision => {
  if (outcome === 'no answer') return { isGood: false, text: undefined, cause: 'RADIUS: no answer' };
  const message = textOf(findAttribute(attributes, radiusAttribute.replyMessage));
  if (method !== authMethod.msChapV2) {
    const isGood = outcome === 'accept';
    return { isGood, text: message || (isGood ? 'welcome' : 'refused'), cause: 'authentication: refused' };
  }
  const proof = findMicrosoft(attributes, microsoft.chap2Success);
  if (outcome === 'accept' && proof !== undefined)
    return { isGood: true, text: `${textOf(proof.subarray(1))} M=${message || 'welcome'}`, cause: 'none' };
  const error = findMicrosoft(attributes, microsoft.chapError);
  const text = error === undefined ? 'E=691 R=0 M=refused' : textOf(error.subarray(1));
  return { isGood: false, text, cause: 'authentication: refused' };
};
