/** The members of an ApplicationParameter that determine its value. Numeric members are texts, read by `type`. */
export interface ParameterDraft {
  readonly id?: number | null | undefined;
  readonly name?: string | null | undefined;
  readonly type: string;
  readonly source: string;
  readonly prefix?: string | null | undefined;
  readonly defaultValue?: string | null | undefined;
  readonly min?: string | null | undefined;
  readonly max?: string | null | undefined;
  readonly start?: string | null | undefined;
  readonly step?: string | null | undefined;
  readonly allowedValues?: readonly string[] | null | undefined;
  /** The first one's length is the length of a random text; 0 (an insertion) means 8. */
  readonly stepsMappings?: readonly { readonly length: number }[] | null | undefined;
}

export const parameterTypes = [
  'string',
  'integer',
  'hex',
  'base64',
  'ipv4',
  'ipv6',
  'mac',
  'uuid',
  'timestamp',
  'enum',
  'u8',
  'u16be',
  'u16le',
  'u32be',
  'u32le',
] as const;

export const systemValues = [
  'clientIp',
  'clientPort',
  'serverIp',
  'serverPort',
  'userIndex',
  'iteration',
  'nowUnix',
  'nowIso',
  'taskId',
  'attemptId',
] as const;
export type SystemValue = (typeof systemValues)[number];

export function mappedLength(parameter: ParameterDraft): number {
  return parameter.stepsMappings?.[0]?.length || 8;
}

/** `dict/<dictionaryId>/<column>`; a column may hold slashes. */
export function findDictionaryReference(text: string): { dictionaryId: number; column: string } | undefined {
  const [, id, column] = /^dict\/([1-9]\d{0,15})\/(.+)$/s.exec(text) ?? [];
  return id === undefined || column === undefined ? undefined : { dictionaryId: Number(id), column };
}
