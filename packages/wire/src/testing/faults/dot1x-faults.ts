import {
  EapolFrame,
  eapCode,
  eapMethod,
  eapolKind,
  eapolType,
  portAccessMac,
  writeEapol,
} from '../../access/dot1x/eapol.ts';
import type { SupplicantOptions } from '../../access/dot1x/supplicants.ts';
import { FrameWriter } from '../../access/frames.ts';
import type { Memory } from '../../bytes/memory.ts';
import { EthernetHeader, macBytes } from '../../ethernet/ethernet.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { type Fault, withFarEnd } from './fault.ts';

const text = (value: string) => new TextEncoder().encode(value);
const supplicant: SupplicantOptions = {
  version: 2,
  groupMac: portAccessMac,
  logoff: true,
  startPeriodMs: 1000,
  maxStart: 2,
  authPeriodMs: 3000,
  heldPeriodMs: 2000,
  reauthMs: 0,
  identity: () => text('user'),
  password: () => text('word'),
};

type Say = (code: number, method: number, data?: Uint8Array, cut?: number) => void;
/** What an authenticator says when it gets a start or a response: the method of the response, 0 for a start. */
type Script = (method: number, say: Say) => void;

const mac = Uint8Array.of(2, 0xff, 0, 0, 0, 9);

/** An authenticator of one supplicant that does what a script says. */
class ScriptedAuthenticator {
  readonly #frames: FrameWriter;
  readonly #script: Script;
  readonly #ethernet = new EthernetHeader();
  readonly #frame = new EapolFrame();
  readonly #peerMac = new Uint8Array(macBytes);
  #id = 0;

  constructor(sink: FrameSink, script: Script) {
    this.#frames = new FrameWriter(sink);
    this.#script = script;
  }

  advance(): void {}

  receive(memory: Memory, start: number, end: number): void {
    const frame = this.#frame;
    if (!this.#ethernet.parse(memory, start, end) || !frame.parse(memory, this.#ethernet.payload, end)) return;
    this.#peerMac.set(memory.bytes.subarray(start + macBytes, start + 2 * macBytes));
    if (frame.kind === eapolKind.start) this.#script(0, this.#say);
    else if (frame.kind === eapolKind.eap) this.#script(frame.method, this.#say);
  }

  readonly #say: Say = (code, method, data = new Uint8Array(0), cut = 0) => {
    const at = this.#frames.begin(0, 200);
    if (code === eapCode.request) this.#id = (this.#id + 1) & 255;
    const eap = { code, id: this.#id, method, data };
    const end = writeEapol(this.#frames.memory, at, { version: 2, kind: eapolKind.eap, eap });
    this.#frames.send(at, end - cut, eapolType, { path: 0, tags: 0, sourceMac: mac, destinationMac: this.#peerMac });
  };
}

const scripted =
  (script: Script): Fault['create'] =>
  (context) =>
    withFarEnd({ access: {}, dot1x: supplicant }, context, (lab) => new ScriptedAuthenticator(lab.sink(1), script));

const { request, success, failure } = eapCode;
const { identity, md5 } = eapMethod;
const challenge = Uint8Array.of(4, 1, 2, 3, 4);

/** Asks who it is, then does something else than going on. */
const afterIdentity =
  (next: (say: Say) => void): Script =>
  (method, say) => {
    if (method === identity) next(say);
    else if (method === 0) say(request, identity);
  };

/** Authenticators that misbehave. */
export const dot1xFaults: readonly Fault[] = [
  { name: 'silence after the identity', cause: '802.1X: no answer', create: scripted(afterIdentity(() => {})) },
  {
    name: 'the same question, without end',
    cause: '802.1X: no answer',
    create: scripted((_method, say) => say(request, identity)),
  },
  {
    name: 'challenges without end',
    cause: '802.1X: no answer',
    create: scripted((method, say) =>
      say(request, method === 0 ? identity : md5, method === 0 ? undefined : challenge),
    ),
  },
  {
    name: 'truncated challenges',
    cause: '802.1X: no answer',
    create: scripted(afterIdentity((say) => say(request, md5, challenge, 2))),
  },
  {
    name: 'a success that was not earned',
    cause: '802.1X: no answer',
    create: scripted(afterIdentity((say) => say(success, 0))),
  },
  {
    name: 'a refusal of the identity',
    cause: '802.1X: refused',
    create: scripted(afterIdentity((say) => say(failure, 0))),
  },
  {
    name: 'a refusal of the password',
    cause: '802.1X: refused',
    create: scripted((method, say) => {
      if (method === md5) say(failure, 0);
      else say(request, method === 0 ? identity : md5, method === 0 ? undefined : challenge);
    }),
  },
];
