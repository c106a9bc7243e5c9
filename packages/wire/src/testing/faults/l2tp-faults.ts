import { avpType, halfOf, halfValue } from '../../access/l2tp/avp.ts';
import { type ControlMessage, messageType } from '../../access/l2tp/control-message.ts';
import { L2tpLac, type L2tpLacOptions } from '../../access/l2tp/lac.ts';
import { L2tpLns, type L2tpLnsOptions } from '../../access/l2tp/lns.ts';
import { resultValue, type Tunnel } from '../../access/l2tp/tunnel.ts';
import { Tunnels } from '../../access/l2tp/tunnels.ts';
import { Subscribers } from '../../access/subscribers.ts';
import type { Memory } from '../../bytes/memory.ts';
import { clientOptions } from '../access-ends.ts';
import { AccessLab } from '../access-lab.ts';
import { lacOptions, lacPeer, linkOf, lnsOptions, lnsPeer, withTunnel } from '../l2tp-ends.ts';
import { type Fault, type FaultContext, fromPeer, onUpTamper } from './fault.ts';

type Far = {
  advance(nowMs: number): void;
  receive(peer: typeof lacPeer, memory: Memory, start: number, end: number): void;
};

const quick = { ...withTunnel({ attempts: 2, helloMs: 1000 }) };
/** A LAC whose tunnels give up soon, and another end. */
const withFar =
  (
    createFar: (lab: AccessLab) => Far,
    { count = 1, tamper, ...more }: Partial<L2tpLacOptions> & { count?: number; tamper?: AccessLab['tamper'] } = {},
  ): Fault['create'] =>
  ({ life, listener }: FaultContext) => {
    const lab = new AccessLab();
    lab.tamper = tamper;
    const subscribers = new Subscribers(count, clientOptions.load, life, listener);
    const link = linkOf(lab, 0, new Set());
    const near = new L2tpLac({ link, subscribers, random: lab.random }, { ...lacOptions, tunnel: quick, ...more });
    subscribers.protocol = near;
    lab.ends[0] = {
      receive: (memory, start, end) => near.receive(lnsPeer, memory, start, end),
      advance: (nowMs) => {
        subscribers.advance(nowMs);
        near.advance(nowMs);
      },
    };
    const far = createFar(lab);
    lab.ends[1] = {
      receive: (memory, start, end) => far.receive(lacPeer, memory, start, end),
      advance: (nowMs) => far.advance(nowMs),
    };
    return { lab, subscribers };
  };

const lns =
  (more: Partial<L2tpLnsOptions> = {}, keep?: (lns: L2tpLns) => void) =>
  (lab: AccessLab): L2tpLns => {
    const far = new L2tpLns({ link: linkOf(lab, 1, new Set()), random: lab.random }, { ...lnsOptions, ...more });
    keep?.(far);
    return far;
  };

/** An LNS that opens tunnels and answers calls as the test says. */
const answering =
  (onCall: (tunnel: Tunnel, message: ControlMessage, peerId: number) => void) =>
  (lab: AccessLab): Tunnels =>
    new Tunnels(
      linkOf(lab, 1, new Set()),
      lab.random,
      {
        accepts: () => true,
        onOpen: () => {},
        onClosed: () => {},
        onCall: (tunnel, message) => onCall(tunnel, message, halfOf(message.avps, avpType.assignedSessionId)),
        onData: () => {},
      },
      { ...lnsOptions.tunnel, maxTunnels: 16 },
    );

const callId = { type: avpType.assignedSessionId, value: halfValue(77) };
const isEmpty = (frame: Uint8Array) => frame.length <= 12;
const withSecret = (text: string) => withTunnel({ secret: new TextEncoder().encode(text) });

const callFaults: readonly Fault[] = [
  { name: 'no answer to a call', cause: 'L2TP: no call', create: withFar(answering(() => {})) },
  {
    name: 'a refusal of a call',
    cause: 'L2TP: call refused',
    create: withFar(
      answering((tunnel, { type }, peerId) => {
        const result = { type: avpType.resultCode, value: resultValue(4) };
        if (type === messageType.icrq) tunnel.send(messageType.cdn, peerId, [result, callId]);
      }),
    ),
  },
  {
    name: 'as many sessions as it may have',
    cause: 'L2TP: call refused',
    create: withFar(lns({ maxSessions: 1 }), { count: 2 }),
  },
  {
    name: 'a message of a call out of turn',
    cause: 'L2TP: protocol error',
    create: withFar(
      answering((tunnel, { type }, peerId) => {
        const values = [
          { type: avpType.connectSpeed, value: new Uint8Array(4) },
          { type: avpType.framingType, value: new Uint8Array(4) },
        ];
        if (type === messageType.icrq) tunnel.send(messageType.iccn, peerId, values);
      }),
    ),
  },
  {
    name: 'a call that carries nothing',
    cause: 'LCP: no answer',
    create: withFar(
      answering((tunnel, { type }, peerId) => {
        if (type === messageType.icrq) tunnel.send(messageType.icrp, peerId, [callId]);
      }),
    ),
  },
];

/** What an LNS does once the sessions of a fault are up. */
const onceUp = (name: string, cause: Fault['cause'], act: (far: L2tpLns) => void): Fault => {
  let far: L2tpLns | undefined;
  return {
    ...{ name, cause },
    create: withFar(
      lns({}, (created) => {
        far = created;
      }),
    ),
    onUp: () => {
      if (far !== undefined) act(far);
    },
  };
};

/** Network servers of L2TP that misbehave. */
export const l2tpFaults: readonly Fault[] = [
  { name: 'silence', cause: 'L2TP: no tunnel', create: withFar(lns(), { tamper: fromPeer(() => undefined) }) },
  {
    name: 'acknowledgements without an answer',
    cause: 'L2TP: no tunnel',
    create: withFar(lns(), { tamper: fromPeer((frame) => (isEmpty(frame) ? frame : undefined)) }),
  },
  {
    name: 'truncated messages',
    cause: 'L2TP: no tunnel',
    create: withFar(lns(), { tamper: fromPeer((frame) => frame.subarray(0, 20)) }),
  },
  { name: 'no call of the LNS', cause: 'L2TP: no tunnel', create: withFar(lns(), { peer: undefined }) },
  {
    name: 'another secret',
    cause: 'L2TP: tunnel refused',
    create: withFar(lns({ tunnel: { ...withSecret('other'), maxTunnels: 64 } })),
  },
  ...callFaults,
  onceUp('an end of the tunnel', 'L2TP: tunnel ended by the peer', (far) => far.tunnels.closeAll('stopped')),
  onceUp('an end of the call', 'L2TP: call ended by the peer', (far) => {
    for (let session = 0; session < 10; session++) far.calls.end(session, { result: 3 });
  }),
  {
    name: 'silence of a tunnel that is up',
    cause: 'L2TP: tunnel without answer',
    create: withFar(lns()),
    onUp: onUpTamper(() => undefined),
  },
];
