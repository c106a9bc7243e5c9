interface ErrorData {
  code: string;
  requestId: string;
  issues?: { path: string; code: string; message: string }[];
  [member: string]: unknown;
}

/** The controller refused a request. `message` is its sentence, `data` what it said beside. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly status: number;
  readonly data: ErrorData;

  constructor(status: number, data: ErrorData, message: string) {
    super(message);
    this.status = status;
    this.data = data;
  }

  get code() {
    return this.data.code;
  }
}
