/** Sends the cases of other tools by us and by a client that shares nothing with us, and compares what the device did. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { CveFormat } from '@rushhour/contract';
import { writeZip } from '../../../packages/controller/src/assets/archives/write-zip.ts';
import { addresses, attack, type Lab, type tally } from '../lab.ts';

export type CaseFormat = Extract<CveFormat, 'http-raw' | 'ftw' | 'gotestwaf' | 'nuclei'>;

/** The name by which both ask for the device. */
const name = 'app.test';
const plainClient = join(import.meta.dirname, 'plain-client.py');

interface Disagreement {
  readonly path: string;
  readonly case: string;
  readonly ours: string;
  readonly plain: string;
  readonly reason: string;
  readonly request: string;
}

interface Agreement {
  /** Cases that both sent and judged. */
  readonly compared: number;
  readonly agreed: number;
  readonly blocked: number;
  readonly disagreements: readonly Disagreement[];
  /** Cases that we refuse to take, by reason. */
  readonly refused: ReadonlyMap<string, number>;
  /** Cases that the plain client cannot build or that only one of the two has. */
  readonly apart: readonly string[];
}

interface Agreeing {
  readonly format: CaseFormat;
  readonly folder: string;
  /** Ports of the device in front of our server agent and in front of a plain server. */
  readonly port: number;
  readonly plainPort: number;
  readonly ratePerSecond?: number | undefined;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();

interface ImportLine {
  readonly path: string;
  readonly templateId: string;
  readonly status: string;
  readonly reason: string;
  readonly safety: string | null;
  readonly signatureIDs: readonly number[];
}

const importFolder = async (lab: Lab, format: CaseFormat, folder: string): Promise<ImportLine[]> => {
  const files = filesIn(folder).filter((path) =>
    format === 'http-raw' ? /\.(?:black|white)$/.test(path) : /\.ya?ml$/.test(path),
  );
  const lines: ImportLine[] = [];
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const some = files.slice(from, from + filesAtOnce);
    const members = some.map((path) => ({ name: path, content: readFileSync(join(folder, path)) }));
    const content = Buffer.concat(await writeZip(members).toArray()).toString('base64');
    const { data } = await lab.system.client.cve.import({ body: { format, content, encoding: 'base64' } });
    lines.push(...(data.report as readonly ImportLine[]));
  }
  return lines;
};

const filesAtOnce = 1000;

interface PlainCase {
  readonly path: string;
  readonly case: string;
  readonly passed: boolean | null;
}

const plainCases = async (lab: Lab, { format, folder, plainPort }: Agreeing): Promise<PlainCase[]> => {
  const args = [plainClient, format, folder, addresses.device, String(plainPort), name];
  const lines = await lab.inClient('/usr/bin/python3', ...args);
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as PlainCase);
};

type Attempts = Parameters<typeof tally>[0];

/** Everything that may be run is sent, also what needs a permission. */
const ourAttempts = async (lab: Lab, lines: readonly ImportLine[], { port, ratePerSecond }: Agreeing) => {
  const { client } = lab.system;
  for (const { status, signatureIDs } of lines) {
    if (status !== 'disabled') continue;
    for (const id of signatureIDs) await client.cve.update({ body: { id, enabled: true } as never });
  }
  const all = lines.flatMap(({ signatureIDs }) => signatureIDs);
  const attempts: Attempts[number][] = [];
  for (let from = 0; from < all.length; from += runSize)
    attempts.push(...(await replay(lab, all.slice(from, from + runSize), { port, ratePerSecond })));
  return attempts;
};

/** Of one run, so that none takes minutes. */
const runSize = 4000;

const replay = async (
  lab: Lab,
  signatureIds: readonly number[],
  { port, ratePerSecond }: Pick<Agreeing, 'port' | 'ratePerSecond'>,
) => {
  const { attempts } = await attack(lab, {
    plugin: 16,
    to: addresses.device,
    port,
    values: {
      httpParams: { host: name },
      cveReplayParams: {
        ...{ signatureIds, allowIntrusive: true, confirm: 1, benign: { enabled: false } },
        ...{ ratePerSecond: ratePerSecond ?? 200, concurrency: 8, serverMode: 'empty' },
        detection: { control: { everyAttempts: 500 } },
      },
    },
  });
  return attempts;
};

/** `1` for the only one, and for each payload its number. */
const caseOf = (templateId: string, variant: string) => {
  const number = /payload-(\d+)/.exec(variant)?.[1];
  return number === undefined ? templateId : `${templateId}:${number}`;
};

const ourCases = (attempts: Attempts, lines: readonly ImportLine[], format: CaseFormat) => {
  const byId = new Map(lines.flatMap((line) => line.signatureIDs.map((id) => [id, line] as const)));
  return new Map(
    attempts.flatMap((attempt) => {
      const line = byId.get(attempt.refID);
      if (line === undefined) return [];
      const given = format === 'http-raw' ? '' : caseOf(line.templateId, attempt.variant);
      const own = format === 'gotestwaf' && !given.includes(':') ? `${given}:1` : given;
      return [[`${line.path}\n${own}`, attempt] as const];
    }),
  );
};

export const compareVerdicts = async (lab: Lab, agreeing: Agreeing): Promise<Agreement> => {
  const lines = await importFolder(lab, agreeing.format, agreeing.folder);
  const attempts = await ourAttempts(lab, lines, agreeing);
  const ours = ourCases(attempts, lines, agreeing.format);
  const plain = await plainCases(lab, agreeing);
  const refused = new Map<string, number>();
  for (const { status, reason } of lines) if (status === 'refused') refused.set(reason, (refused.get(reason) ?? 0) + 1);
  const pairs = plain.flatMap((one) => {
    const attempt = ours.get(`${one.path}\n${one.case}`);
    return one.passed === null || attempt === undefined ? [] : [{ one, attempt }];
  });
  const disagreements = pairs
    .filter(({ one, attempt }) => attempt.outcome !== (one.passed ? 'passed' : 'blocked'))
    .map(({ one, attempt }) => ({
      path: one.path,
      case: one.case,
      ours: `${attempt.outcome} ${attempt.mechanism ?? ''} ${attempt.client.status}`,
      plain: one.passed ? 'passed' : 'blocked',
      reason: attempt.reason,
      request: attempt.request ?? '',
    }));
  return {
    compared: pairs.length,
    agreed: pairs.length - disagreements.length,
    blocked: pairs.filter(({ one }) => !one.passed).length,
    disagreements,
    refused,
    apart: apartIn(plain, ours),
  };
};

const apartIn = (plain: readonly PlainCase[], ours: ReadonlyMap<string, unknown>): string[] => {
  const known = new Set(plain.map(({ path, case: one }) => `${path}\n${one}`));
  return [
    ...plain.flatMap(({ path, case: one, passed }) => {
      if (passed === null) return [`not built or answered by the plain client: ${path} ${one}`];
      return ours.has(`${path}\n${one}`) ? [] : [`not ours: ${path} ${one}`];
    }),
    ...[...ours.keys()].flatMap((key) => (known.has(key) ? [] : [`only ours: ${key.replace('\n', ' ')}`])),
  ];
};
