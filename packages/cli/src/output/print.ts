import { tableText } from './table.ts';

export const outputFormats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Tables are for people: the default on a terminal, JSON otherwise. */
export const formatOf = (given: OutputFormat | undefined): OutputFormat =>
  given ?? (process.stdout.isTTY ? 'table' : 'json');

/** Writes text and waits until it is taken: a process that ends early must not cut its output. */
export const write = (text: string | Uint8Array) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });

export const printReply = async (reply: unknown, format: OutputFormat) => {
  if (reply === undefined) return;
  if (format === 'json') return write(`${JSON.stringify(reply, null, 2)}\n`);
  if (format === 'table') return write(`${tableText(reply)}\n`);
  const { stringify } = await import('yaml');
  return write(stringify(reply));
};

interface StreamedEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** Events one by one as they arrive: JSON lines, YAML documents, or lines for people. */
export const printEvents = async (events: AsyncIterable<StreamedEvent>, format: OutputFormat) => {
  for await (const event of events) {
    if (format === 'json') await write(`${JSON.stringify(event)}\n`);
    else if (format === 'table') await write(`${event.event.padEnd(14)} ${JSON.stringify(event.data)}\n`);
    else await write(`---\n${(await import('yaml')).stringify(event)}`);
  }
};
