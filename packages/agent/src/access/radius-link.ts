import { createSocket, type Socket } from 'node:dgram';
import type { AccessGatewayOptions, RadiusSessionsOptions } from '@rushhour/wire';
import { bytesOf, type Profiles, type RadiusProfile } from './options/access-profiles.ts';

/** What the profile says about sessions that a RADIUS server decides about. */
export const radiusSessionsOf = (
  { nasIdentifier, accounting, interimSec }: RadiusProfile,
  portName: string,
): Omit<RadiusSessionsOptions, 'isPpp'> => ({ nasIdentifier, portName, accounting, interimSec });

/** The RADIUS server that an entry asks. */
export const findRadius = ({ ppp, dot1x, dhcp }: Profiles): RadiusProfile | undefined => {
  if (dhcp?.server.decision === 'radius') return dhcp.radius;
  if (ppp?.server.decision === 'radius') return ppp.radius;
  return dot1x?.authenticator.decision === 'radius' ? dot1x.radius : undefined;
};

/** Datagrams between a gateway and its RADIUS server, through the machine's own addresses. */
export class RadiusLink {
  readonly #profile: RadiusProfile;
  readonly #sockets: Socket[] = [];
  #isClosed = false;
  /** Takes answers. */
  onMessage: (socket: number, bytes: Uint8Array) => void = () => {};

  constructor(profile: RadiusProfile) {
    this.#profile = profile;
  }

  get options(): NonNullable<AccessGatewayOptions['radius']> {
    const { secret, timeoutSec, attempts } = this.#profile;
    return {
      secret: bytesOf(secret),
      timeoutMs: timeoutSec * 1000,
      attempts,
      send: (socket, isAccounting, bytes) => this.#send(socket, isAccounting, bytes),
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket?.close();
  }

  #send(index: number, isAccounting: boolean, bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const { address, port, accountingPort } = this.#profile;
    // A datagram that cannot be sent counts as lost: it is sent again.
    this.#socket(index).send(bytes, isAccounting ? accountingPort : port, address, () => {});
  }

  #socket(index: number): Socket {
    const known = this.#sockets[index];
    if (known !== undefined) return known;
    const socket = createSocket('udp4');
    socket.on('error', () => {});
    socket.on('message', (bytes, { address }) => {
      if (address === this.#profile.address) this.onMessage(index, bytes);
    });
    this.#sockets[index] = socket;
    return socket;
  }
}
