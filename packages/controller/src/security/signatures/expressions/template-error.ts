/** Why a template cannot be used; the message is for its author. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
