import type { PcapInfo, PcapQuery } from '@rushhour/contract';
import { invalid } from '../../../errors.ts';
import { readSessions } from '../../../store/assets/captures.ts';
import type { FileRow } from '../../../store/assets/files.ts';
import type { Executor } from '../../../store/engine/database.ts';
import type { CaptureSelection } from './capture-selection.ts';
import { parseSearch } from './capture-selection.ts';
import type { Captures } from './captures.ts';

const stepBytes = 1024;
const oneStepBytes = 65_536;

const assertSessions = (asked: readonly number[], sessionCount: number) => {
  const unknown = asked.filter((index) => index >= sessionCount);
  if (unknown.length === 0) return;
  const message = `the capture has ${sessionCount} sessions, from 0: there is no ${unknown.join(', ')}`;
  throw invalid([{ path: '/sessionIdx', in: 'query', code: 'NO_SUCH_SESSION', message }], 'NO_SUCH_SESSION');
};

const selectionOf = (query: PcapQuery): Omit<CaptureSelection, 'sessions'> => {
  const { page = 1, count = 20, stepIdx, search, offset = 0, encoding = 'base64' } = query;
  const length = query.length ?? (stepIdx === undefined ? stepBytes : oneStepBytes);
  return {
    page,
    count,
    offset,
    length,
    encoding,
    ...(stepIdx !== undefined && { stepIdx }),
    ...(search !== undefined && { search }),
  };
};

/** Facts of a capture and a page of its sessions; their steps are read from the content only when they are asked for. */
export const showCapture = async (
  file: FileRow,
  query: PcapQuery,
  { captures, read }: { captures: Captures; read: Executor },
): Promise<PcapInfo> => {
  const { page = 1, count = 20, sessionIdx, search } = query;
  if (search !== undefined) parseSearch(search);
  const info = { ...(await captures.infoOf(file)), fileID: file.id };
  if (sessionIdx) assertSessions(sessionIdx, info.sessionCount);
  const selection = selectionOf(query);
  if (search !== undefined) {
    const found = await captures.look(file, { ...selection, ...(sessionIdx && { sessions: sessionIdx }) });
    return { ...info, ...found };
  }
  const from = (page - 1) * count;
  const sessions = sessionIdx
    ? sessionIdx.slice(from, from + count)
    : Array.from({ length: Math.max(0, Math.min(count, info.sessionCount - from)) }, (_, at) => from + at);
  const wantsSteps = query.steps || [query.stepIdx, query.offset, query.length].some((value) => value !== undefined);
  if (wantsSteps && sessions.length > 0) return { ...info, ...(await captures.look(file, { ...selection, sessions })) };
  return { ...info, sessions: await readSessions(read, file.sha256, sessions) };
};
