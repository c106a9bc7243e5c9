/** A mail with one attachment. */
export interface MailWithFile {
  /** Header lines before those of MIME. */
  readonly headers: readonly string[];
  readonly boundary: string;
  readonly text: string;
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** The lines of the mail in wire format: they end with CR LF, and none starts with a dot. */
export const writeMail = ({ headers, boundary, text, name, contentType, content }: MailWithFile): string =>
  [
    ...headers,
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    text,
    `--${boundary}`,
    `Content-Type: ${contentType}; name="${name}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${name}"`,
    '',
    content
      .toString('base64')
      .match(/.{1,76}/g)
      ?.join('\r\n') ?? '',
    `--${boundary}--`,
    '',
  ].join('\r\n');
