export type ArchiveErrorCode =
  | 'NOT_AN_ARCHIVE'
  | 'BAD_ARCHIVE'
  | 'AMBIGUOUS_ARCHIVE'
  | 'TRUNCATED_ARCHIVE'
  | 'UNSAFE_NAME'
  | 'UNSAFE_TYPE'
  | 'DUPLICATE_NAME'
  | 'OVERLAPPING_MEMBERS'
  | 'SIZE_MISMATCH'
  | 'BAD_CHECKSUM'
  | 'ARCHIVE_BOMB'
  | 'TOO_MANY_MEMBERS'
  | 'TOO_LARGE'
  | 'TOO_DEEP'
  | 'ARCHIVE_PASSWORD_REQUIRED'
  | 'BAD_ARCHIVE_PASSWORD'
  | 'UNSUPPORTED_ARCHIVE';

/** Why an archive is refused; `member` is the name at fault, empty where it is the archive itself. */
export class ArchiveError extends Error {
  readonly code: ArchiveErrorCode;
  readonly member: string;

  constructor(code: ArchiveErrorCode, member: string, message: string, options?: ErrorOptions) {
    super(member === '' ? message : `${shown(member)}: ${message}`, options);
    this.name = 'ArchiveError';
    this.code = code;
    this.member = member;
  }
}

/** Names of hostile members reach logs and screens: one short line, nothing invisible. */
function shown(member: string): string {
  const text = member.length > 120 ? `${member.slice(0, 120)}…` : member;
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
