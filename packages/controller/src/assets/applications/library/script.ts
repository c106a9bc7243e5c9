import { compose, type Part, type Region } from './bytes.ts';

interface Channel {
  readonly protocol: 'tcp' | 'udp';
  /** Of the server. */
  readonly port: number;
}

export interface Step {
  readonly channel: Channel;
  readonly side: 'client' | 'server';
  readonly bytes: Uint8Array;
  readonly regions: readonly Region[];
}

/** An application flow of the library: its messages in order, over one or more sessions. */
export interface LibraryApplication {
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  /** The name by which tshark knows what at least one packet of it carries. */
  readonly recognisedAs: string;
  readonly steps: readonly Step[];
}

const channel = (protocol: 'tcp' | 'udp', port: number) => {
  const ends: Channel = { protocol, port };
  const say =
    (side: Step['side']) =>
    (...parts: Part[]): Step => ({ channel: ends, side, ...compose(parts) });
  return { client: say('client'), server: say('server') };
};

export const tcp = (port: number) => channel('tcp', port);
export const udp = (port: number) => channel('udp', port);

/** The sessions of an application, in the order of their first messages. */
export const channelsOf = ({ steps }: LibraryApplication): Channel[] => [...new Set(steps.map((step) => step.channel))];
