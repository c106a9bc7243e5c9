import type { ApplicationParameter, ApplicationSession } from '@rushhour/contract';
import { type Column, flag, integer, json, maybeInteger, text } from '../engine/column.ts';

const textOr = (cleared: string): Column<string, string> => ({ cleared });
const integerOr = (cleared: number): Column<number, number> => ({ cleared });

export const applications = {
  id: integer,
  name: text,
  description: text,
  tags: text,
  mode: textOr('stateful'),
  defaultSpeedMode: textOr('original'),
  clientIp: text,
  allowPerSessionSpeed: flag,
  followTimestamps: { ...flag, cleared: true } as Column<boolean, number>,
  lockParameters: flag,
  loop: flag,
  baseBps: integer,
  basePps: integer,
  defaultTimeout: integerOr(5000),
  defaultUsers: integerOr(1),
  timingGapThresholdMs: integerOr(500),
  pcapFileId: integer,
  trimmedPcapFileId: maybeInteger,
  pcapMd5: text,
  issuerId: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

export type ParameterContent = Omit<ApplicationParameter, 'id' | 'applicationId'>;
export type SessionContent = Omit<ApplicationSession, 'id' | 'applicationId'>;

export const applicationParameters = {
  id: integer,
  applicationId: integer,
  position: integer,
  content: json<ParameterContent | null>(null),
};

export const applicationSessions = {
  id: integer,
  applicationId: integer,
  position: integer,
  protocol: text,
  content: json<SessionContent | null>(null),
};
