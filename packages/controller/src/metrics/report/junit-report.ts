import { limitText, measureText, runStatus, statusNames, verdictNames } from '@rushhour/contract';
import type { ShownAttempt } from '../../security/verdicts/security-report.ts';
import type { ReportData } from './report-data.ts';

// What XML cannot hold at all is replaced, the rest is escaped.
const text = (value: unknown) =>
  String(value)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

interface Case {
  readonly name: string;
  /** Empty when it passed. */
  readonly failure: string;
  readonly skipped: string;
}

const casesOf = ({ run, isPartial }: ReportData): Case[] => {
  const status = statusNames[run.status] ?? String(run.status);
  const verdict = verdictNames[run.verdict] ?? 'none';
  const ended = {
    name: 'the run ends as planned',
    failure: isPartial || run.status === runStatus.finished ? '' : `${status} (${run.stopReason}) ${run.error}`.trim(),
    skipped: isPartial ? 'the run has not ended' : '',
  };
  const valid = {
    name: 'the result is valid',
    failure: run.validity.valid ? '' : `${verdict}: ${run.validity.reasons.join('; ')}`,
    skipped: '',
  };
  const thresholds = run.thresholds.map((threshold) => {
    const { name, operator, value, actual, outcome, severity, onNoData = 'fail' } = threshold;
    const found = `${measureText(threshold)} is ${actual ?? 'without data'}, required: ${limitText(operator, value)}`;
    const isBad = outcome === 'failed' || (outcome === 'noData' && onNoData === 'fail');
    const isWarning = severity === 'warn';
    return {
      name,
      failure: isBad && !isWarning ? found : '',
      skipped: (isBad && isWarning) || outcome === 'pending' || (outcome === 'noData' && !isBad) ? found : '',
    };
  });
  return [ended, valid, ...thresholds];
};

const maxShown = 200;

/** How it was sent, with the payload. */
const sentAs = ({ variant, payload }: ShownAttempt): string =>
  payload === undefined ? variant : `${variant} (${payload.slice(0, maxShown)})`;

/** One case per signature or payload, with all its variants; benign ones fail when they are blocked. */
const attackCases = ({ security }: ReportData): Case[] => {
  const groups = Map.groupBy(security?.attempts ?? [], ({ kind, refID, refName }) => `${kind} ${refID} ${refName}`);
  return [...groups.values()].map((all) => {
    const [{ kind, refName, expected }] = all as [ShownAttempt];
    const isWrong = ({ outcome }: ShownAttempt) =>
      expected === 'allow'
        ? kind === 'benign' && (outcome === 'blocked' || outcome === 'modified')
        : outcome === 'passed';
    const wrong = all.filter(isWrong);
    const decided = all.filter(({ outcome }) => ['blocked', 'modified', 'passed'].includes(outcome));
    const verb = expected === 'allow' ? 'blocked' : 'passed';
    return {
      name: `${kind}: ${refName}`,
      failure: wrong.length === 0 ? '' : `${verb}: ${wrong.map(sentAs).join(', ')}`,
      skipped: decided.length === 0 ? `undecided: ${all[0]?.reason ?? ''}` : '',
    };
  });
};

/** One case per frame size: frames arrive, and the path, not an agent, is the limit. */
const trialCases = ({ run }: ReportData): Case[] =>
  (run.rfc2544 ?? []).flatMap(({ frameSize, throughput }) => {
    if (throughput === undefined) return [];
    const { fps, limit } = throughput;
    const isAgents = limit === 'generator' || limit === 'receiver';
    return {
      name: `RFC 2544: frames of ${frameSize} bytes arrive`,
      failure: fps === 0 ? 'no rate without loss was found' : '',
      skipped: isAgents ? `${Math.round(fps)} frames per second were the limit of the ${limit}, not of the path` : '',
    };
  });

const caseXml = (suite: string, { name, failure, skipped }: Case): string => {
  const inner = failure
    ? `<failure message="${text(failure)}"/>`
    : skipped
      ? `<skipped message="${text(skipped)}"/>`
      : '';
  return `<testcase classname="${text(suite)}" name="${text(name)}">${inner}</testcase>`;
};

/** For build servers: the end of the run, its validity and each threshold are test cases. */
export const junitReport = (data: ReportData): string => {
  const cases = [...casesOf(data), ...attackCases(data), ...trialCases(data)];
  const failures = cases.filter(({ failure }) => failure !== '').length;
  const skipped = cases.filter(({ failure, skipped: why }) => failure === '' && why !== '').length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  const time = data.run.durationSec ?? 0;
  const suite = `rushhour.task${data.run.taskID}`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}><testsuite name="${text(data.title)}" ${counts} time="${time}" timestamp="${text(data.run.startedAt ?? data.generatedAt)}">${cases.map((one) => caseXml(suite, one)).join('')}</testsuite></testsuites>\n`;
};
