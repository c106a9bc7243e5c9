import { runTool } from './run-tool.ts';

/** What one side said, in the order of the conversation. */
export interface TsharkStep {
  readonly from: string;
  readonly hex: string;
}

export interface Conversation {
  readonly ends: string;
  readonly frames: number;
}

export interface TsharkReading {
  /** Values of the wanted fields, one row per packet. */
  readonly rows: string[][];
  readonly conversations: { tcp: Conversation[]; udp: Conversation[] };
  readonly streams: { tcp: TsharkStep[][]; udp: TsharkStep[][] };
  /** Complaints of tshark about the file, without the one about running as root. */
  readonly complaints: string;
}

export interface ReadingOptions {
  readonly fields: readonly string[];
  /** How many streams to follow. */
  readonly follow?: { tcp: number; udp: number };
  readonly options?: readonly string[];
}

/** All that is asked of one file in one run of tshark, for its start is what takes time. */
export async function readWithTshark(file: string, reading: ReadingOptions): Promise<TsharkReading> {
  const fields = reading.fields.flatMap((field) => ['-e', field]);
  const follow = (['tcp', 'udp'] as const).flatMap((protocol) => [
    ...['-z', `conv,${protocol}`],
    ...Array.from({ length: reading.follow?.[protocol] ?? 0 }, (_, index) => [
      '-z',
      `follow,${protocol},raw,${index}`,
    ]).flat(),
  ]);
  const args = ['-n', '-r', file, ...(reading.options ?? []), '-T', 'fields', ...fields, ...follow];
  const { stdout, stderr } = await runTool('tshark', args);
  const [head = '', ...sections] = stdout.split(/^={60,}$/m);
  return {
    rows: head
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t')),
    conversations: { tcp: conversationsIn(sections, 'TCP'), udp: conversationsIn(sections, 'UDP') },
    streams: { tcp: streamsIn(sections, 'tcp'), udp: streamsIn(sections, 'udp') },
    complaints: stderr
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('Running as user'))
      .join('\n'),
  };
}

function conversationsIn(sections: readonly string[], protocol: string): Conversation[] {
  const table = sections.find((section) => section.includes(`${protocol} Conversations`)) ?? '';
  const lines = table.split('\n').filter((line) => line.includes('<->'));
  return lines.map((line) => {
    const [a = '', , b = '', ...columns] = line.trim().split(/\s+/);
    return { ends: [a, b].sort().join(' '), frames: Number(columns[6]) };
  });
}

function streamsIn(sections: readonly string[], protocol: string): TsharkStep[][] {
  const streams: TsharkStep[][] = [];
  for (const section of sections.filter((text) => text.includes(`Follow: ${protocol},raw`))) {
    const index = Number(/stream eq (\d+)/.exec(section)?.[1]);
    const nodes = [...section.matchAll(/^Node [01]: (.*)$/gm)].map((match) => (match[1] ?? '').replace(/[[\]]/g, ''));
    const lines = section.split('\n').filter((line) => /^\t?[0-9a-f]+$/.test(line));
    streams[index] = lines.map((line) => ({ from: nodes[line.startsWith('\t') ? 1 : 0] ?? '', hex: line.trim() }));
  }
  return streams;
}

/** Neighbouring lines of one side, joined: the rule by which TCP payload becomes steps. */
export function runsOf(steps: readonly TsharkStep[]): TsharkStep[] {
  const runs: { from: string; hex: string }[] = [];
  for (const line of steps) {
    const last = runs.at(-1);
    if (last?.from === line.from) last.hex += line.hex;
    else runs.push({ ...line });
  }
  return runs;
}
