import * as zip from '@zip.js/zip.js';
import { ArchiveError, type ArchiveErrorCode } from './archive-error.ts';

const meanings = new Map<string, [ArchiveErrorCode, string]>([
  [zip.ERR_BAD_FORMAT, ['BAD_ARCHIVE', 'the file is not a readable zip archive']],
  [zip.ERR_EOCDR_NOT_FOUND, ['TRUNCATED_ARCHIVE', 'the end of the zip archive is missing']],
  [zip.ERR_EOCDR_LOCATOR_ZIP64_NOT_FOUND, ['BAD_ARCHIVE', 'the zip64 record is missing']],
  [zip.ERR_CENTRAL_DIRECTORY_NOT_FOUND, ['BAD_ARCHIVE', 'the list of members is damaged']],
  [zip.ERR_LOCAL_FILE_HEADER_NOT_FOUND, ['BAD_ARCHIVE', 'the member is not where the list says']],
  [zip.ERR_EXTRAFIELD_ZIP64_NOT_FOUND, ['BAD_ARCHIVE', 'the zip64 sizes are missing']],
  [zip.ERR_UNSUPPORTED_UINT64, ['BAD_ARCHIVE', 'a size is out of range']],
  [zip.ERR_ENTRY_DATA_OUT_OF_BOUNDS, ['SIZE_MISMATCH', 'the data would reach beyond the archive']],
  [zip.ERR_AMBIGUOUS_ARCHIVE, ['AMBIGUOUS_ARCHIVE', 'other programs would read the archive differently']],
  [zip.ERR_OVERLAPPING_ENTRY, ['OVERLAPPING_MEMBERS', 'the data overlaps that of another member']],
  [zip.ERR_INVALID_UNCOMPRESSED_SIZE, ['SIZE_MISMATCH', 'the content is not as long as declared']],
  [zip.ERR_INVALID_CRC32, ['BAD_CHECKSUM', 'the checksum of the content is wrong']],
  [zip.ERR_INVALID_AUTHENTICATION_CODE, ['BAD_CHECKSUM', 'the encrypted content has been changed']],
  [zip.ERR_INVALID_COMPRESSED_DATA, ['BAD_ARCHIVE', 'the compressed data is damaged']],
  [zip.ERR_ENCRYPTED, ['ARCHIVE_PASSWORD_REQUIRED', 'the member is encrypted: its password is needed']],
  [zip.ERR_INVALID_PASSWORD, ['BAD_ARCHIVE_PASSWORD', 'the password does not open the member']],
  [zip.ERR_UNSUPPORTED_ENCRYPTION, ['UNSUPPORTED_ARCHIVE', 'the kind of encryption is not supported']],
  [zip.ERR_ENCRYPTED_CENTRAL_DIRECTORY, ['UNSUPPORTED_ARCHIVE', 'encrypted lists of members are not supported']],
  [zip.ERR_UNSUPPORTED_COMPRESSION, ['UNSUPPORTED_ARCHIVE', 'the kind of compression is not supported']],
  [zip.ERR_SPLIT_ZIP_FILE, ['UNSUPPORTED_ARCHIVE', 'split archives are not supported']],
]);
// ZipCrypto checks one byte of the password: one wrong password in 256 shows itself only in what it unpacks.
const signsOfWrongPassword: ReadonlySet<ArchiveErrorCode> = new Set(['BAD_CHECKSUM', 'BAD_ARCHIVE', 'SIZE_MISMATCH']);

/** Says in our words what zip.js found. */
export function zipErrorOf(cause: unknown, member: string, isZipCrypto = false): ArchiveError {
  const error = cause instanceof ArchiveError ? cause : translated(cause, member);
  if (!isZipCrypto || !signsOfWrongPassword.has(error.code)) return error;
  return new ArchiveError('BAD_ARCHIVE_PASSWORD', member, 'the password is wrong or the member is damaged', { cause });
}

function translated(cause: unknown, member: string): ArchiveError {
  const { message = '', reason } = cause as { message?: string; reason?: string };
  const [code, text] = meanings.get(message) ?? ['BAD_ARCHIVE', 'the zip archive cannot be read'];
  return new ArchiveError(code, member, reason ? `${text} (${reason})` : text, { cause });
}
