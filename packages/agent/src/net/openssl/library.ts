import { createRequire } from 'node:module';
import { findLibc } from '../kernel/libc.ts';

// OpenSSL as the Node binary exports it: no library is needed. Addresses are plain numbers, texts are copied by koffi.
const declarations = {
  OpenSSL_version_num: 'ulong OpenSSL_version_num()',
  ERR_get_error: 'ulong ERR_get_error()',
  ERR_clear_error: 'void ERR_clear_error()',
  ERR_reason_error_string: 'str ERR_reason_error_string(ulong error)',
  TLS_client_method: 'uintptr_t TLS_client_method()',
  TLS_server_method: 'uintptr_t TLS_server_method()',
  SSL_CTX_new: 'uintptr_t SSL_CTX_new(uintptr_t method)',
  SSL_CTX_free: 'void SSL_CTX_free(uintptr_t context)',
  SSL_CTX_ctrl: 'long SSL_CTX_ctrl(uintptr_t context, int command, long number, uintptr_t pointer)',
  SSL_CTX_set_options: 'uint64_t SSL_CTX_set_options(uintptr_t context, uint64_t options)',
  SSL_CTX_set_num_tickets: 'int SSL_CTX_set_num_tickets(uintptr_t context, size_t count)',
  SSL_CTX_set_ciphersuites: 'int SSL_CTX_set_ciphersuites(uintptr_t context, str text)',
  SSL_CTX_set_cipher_list: 'int SSL_CTX_set_cipher_list(uintptr_t context, str text)',
  SSL_CTX_use_certificate: 'int SSL_CTX_use_certificate(uintptr_t context, uintptr_t certificate)',
  SSL_CTX_use_PrivateKey: 'int SSL_CTX_use_PrivateKey(uintptr_t context, uintptr_t key)',
  SSL_CTX_check_private_key: 'int SSL_CTX_check_private_key(uintptr_t context)',
  SSL_CTX_set_alpn_protos: 'int SSL_CTX_set_alpn_protos(uintptr_t context, uintptr_t names, uint length)',
  SSL_CTX_set_alpn_select_cb: 'void SSL_CTX_set_alpn_select_cb(uintptr_t context, uintptr_t callback, uintptr_t data)',
  SSL_CTX_set_session_id_context: 'int SSL_CTX_set_session_id_context(uintptr_t context, str text, uint length)',
  SSL_CTX_set_verify: 'void SSL_CTX_set_verify(uintptr_t context, int mode, uintptr_t callback)',
  SSL_CTX_get_cert_store: 'uintptr_t SSL_CTX_get_cert_store(uintptr_t context)',
  SSL_CTX_add_client_CA: 'int SSL_CTX_add_client_CA(uintptr_t context, uintptr_t certificate)',
  SSL_CTX_set_max_early_data: 'int SSL_CTX_set_max_early_data(uintptr_t context, uint32_t bytes)',
  SSL_CTX_set_keylog_callback: 'void SSL_CTX_set_keylog_callback(uintptr_t context, uintptr_t callback)',
  SSL_CTX_add_custom_ext:
    'int SSL_CTX_add_custom_ext(uintptr_t context, uint type, uint messages, uintptr_t add, uintptr_t free, uintptr_t addData, uintptr_t parse, uintptr_t parseData)',
  SSL_get_SSL_CTX: 'uintptr_t SSL_get_SSL_CTX(uintptr_t session)',
  SSL_new: 'uintptr_t SSL_new(uintptr_t context)',
  SSL_free: 'void SSL_free(uintptr_t session)',
  SSL_set_bio: 'void SSL_set_bio(uintptr_t session, uintptr_t input, uintptr_t output)',
  SSL_set_connect_state: 'void SSL_set_connect_state(uintptr_t session)',
  SSL_set_accept_state: 'void SSL_set_accept_state(uintptr_t session)',
  SSL_set_session: 'int SSL_set_session(uintptr_t session, uintptr_t ticket)',
  SSL_get1_session: 'uintptr_t SSL_get1_session(uintptr_t session)',
  SSL_session_reused: 'int SSL_session_reused(uintptr_t session)',
  SSL_SESSION_free: 'void SSL_SESSION_free(uintptr_t ticket)',
  SSL_SESSION_is_resumable: 'int SSL_SESSION_is_resumable(uintptr_t ticket)',
  SSL_SESSION_get_max_early_data: 'uint32_t SSL_SESSION_get_max_early_data(uintptr_t ticket)',
  SSL_do_handshake: 'int SSL_do_handshake(uintptr_t session)',
  SSL_read: 'int SSL_read(uintptr_t session, uintptr_t bytes, int length)',
  SSL_write: 'int SSL_write(uintptr_t session, uintptr_t bytes, int length)',
  SSL_read_early_data: 'int SSL_read_early_data(uintptr_t session, uintptr_t bytes, size_t length, uintptr_t count)',
  SSL_write_early_data: 'int SSL_write_early_data(uintptr_t session, uintptr_t bytes, size_t length, uintptr_t count)',
  SSL_get_early_data_status: 'int SSL_get_early_data_status(uintptr_t session)',
  SSL_get_error: 'int SSL_get_error(uintptr_t session, int result)',
  SSL_shutdown: 'int SSL_shutdown(uintptr_t session)',
  SSL_set_quiet_shutdown: 'void SSL_set_quiet_shutdown(uintptr_t session, int mode)',
  SSL_ctrl: 'long SSL_ctrl(uintptr_t session, int command, long number, uintptr_t pointer)',
  SSL_version: 'int SSL_version(uintptr_t session)',
  SSL_get0_alpn_selected: 'void SSL_get0_alpn_selected(uintptr_t session, uintptr_t name, uintptr_t length)',
  SSL_get_current_cipher: 'uintptr_t SSL_get_current_cipher(uintptr_t session)',
  SSL_CIPHER_get_name: 'str SSL_CIPHER_get_name(uintptr_t cipher)',
  SSL_get0_group_name: 'str SSL_get0_group_name(uintptr_t session)',
  SSL_export_keying_material:
    'int SSL_export_keying_material(uintptr_t session, uintptr_t to, size_t length, str label, size_t labelLength, uintptr_t context, size_t contextLength, int hasContext)',
  SSL_get_verify_result: 'long SSL_get_verify_result(uintptr_t session)',
  SSL_get0_param: 'uintptr_t SSL_get0_param(uintptr_t session)',
  X509_VERIFY_PARAM_set1_host: 'int X509_VERIFY_PARAM_set1_host(uintptr_t parameters, str name, size_t length)',
  X509_VERIFY_PARAM_set1_ip_asc: 'int X509_VERIFY_PARAM_set1_ip_asc(uintptr_t parameters, str address)',
  X509_STORE_add_cert: 'int X509_STORE_add_cert(uintptr_t store, uintptr_t certificate)',
  X509_STORE_add_crl: 'int X509_STORE_add_crl(uintptr_t store, uintptr_t list)',
  X509_STORE_set_flags: 'int X509_STORE_set_flags(uintptr_t store, ulong flags)',
  OSSL_QUIC_client_method: 'uintptr_t OSSL_QUIC_client_method()',
  OSSL_QUIC_server_method: 'uintptr_t OSSL_QUIC_server_method()',
  SSL_new_listener: 'uintptr_t SSL_new_listener(uintptr_t context, uint64_t flags)',
  SSL_listen: 'int SSL_listen(uintptr_t listener)',
  SSL_accept_connection: 'uintptr_t SSL_accept_connection(uintptr_t listener, uint64_t flags)',
  SSL_accept_stream: 'uintptr_t SSL_accept_stream(uintptr_t connection, uint64_t flags)',
  SSL_new_stream: 'uintptr_t SSL_new_stream(uintptr_t connection, uint64_t flags)',
  SSL_get_stream_id: 'uint64_t SSL_get_stream_id(uintptr_t stream)',
  SSL_get_stream_type: 'int SSL_get_stream_type(uintptr_t stream)',
  SSL_get_stream_read_state: 'int SSL_get_stream_read_state(uintptr_t stream)',
  SSL_get_stream_read_error_code: 'int SSL_get_stream_read_error_code(uintptr_t stream, uintptr_t code)',
  SSL_stream_conclude: 'int SSL_stream_conclude(uintptr_t stream, uint64_t flags)',
  SSL_stream_reset: 'int SSL_stream_reset(uintptr_t stream, uintptr_t arguments, size_t length)',
  SSL_write_ex2: 'int SSL_write_ex2(uintptr_t stream, uintptr_t bytes, size_t length, uint64_t flags, uintptr_t count)',
  SSL_handle_events: 'int SSL_handle_events(uintptr_t object)',
  SSL_get_event_timeout: 'int SSL_get_event_timeout(uintptr_t object, uintptr_t time, uintptr_t isInfinite)',
  SSL_net_write_desired: 'int SSL_net_write_desired(uintptr_t object)',
  SSL_poll:
    'int SSL_poll(uintptr_t items, size_t count, size_t stride, uintptr_t time, uint64_t flags, uintptr_t ready)',
  SSL_set_blocking_mode: 'int SSL_set_blocking_mode(uintptr_t object, int isBlocking)',
  SSL_set_default_stream_mode: 'int SSL_set_default_stream_mode(uintptr_t connection, uint32_t mode)',
  SSL_set_incoming_stream_policy: 'int SSL_set_incoming_stream_policy(uintptr_t connection, int policy, uint64_t code)',
  SSL_set_value_uint: 'int SSL_set_value_uint(uintptr_t object, uint32_t class, uint32_t id, uint64_t value)',
  SSL_set1_initial_peer_addr: 'int SSL_set1_initial_peer_addr(uintptr_t connection, uintptr_t address)',
  SSL_shutdown_ex: 'int SSL_shutdown_ex(uintptr_t connection, uint64_t flags, uintptr_t arguments, size_t length)',
  SSL_get_conn_close_info: 'int SSL_get_conn_close_info(uintptr_t connection, uintptr_t info, size_t length)',
  SSL_set_msg_callback: 'void SSL_set_msg_callback(uintptr_t connection, uintptr_t callback)',
  SSL_inject_net_dgram:
    'int SSL_inject_net_dgram(uintptr_t object, uintptr_t bytes, size_t length, uintptr_t peer, uintptr_t local)',
  BIO_new_dgram: 'uintptr_t BIO_new_dgram(int fd, int closes)',
  BIO_new_bio_dgram_pair:
    'int BIO_new_bio_dgram_pair(uintptr_t first, size_t firstRoom, uintptr_t second, size_t secondRoom)',
  BIO_recvmmsg:
    'int BIO_recvmmsg(uintptr_t bio, uintptr_t messages, size_t stride, size_t count, uint64_t flags, uintptr_t taken)',
  BIO_ADDR_new: 'uintptr_t BIO_ADDR_new()',
  BIO_ADDR_free: 'void BIO_ADDR_free(uintptr_t address)',
  BIO_ADDR_rawmake:
    'int BIO_ADDR_rawmake(uintptr_t address, int family, uintptr_t where, size_t length, ushort networkPort)',
  BIO_s_mem: 'uintptr_t BIO_s_mem()',
  BIO_new: 'uintptr_t BIO_new(uintptr_t method)',
  BIO_new_mem_buf: 'uintptr_t BIO_new_mem_buf(uintptr_t bytes, int length)',
  BIO_free: 'int BIO_free(uintptr_t bio)',
  BIO_up_ref: 'int BIO_up_ref(uintptr_t bio)',
  BIO_set_flags: 'void BIO_set_flags(uintptr_t bio, int flags)',
  BIO_write: 'int BIO_write(uintptr_t bio, uintptr_t bytes, int length)',
  BIO_puts: 'int BIO_puts(uintptr_t bio, str text)',
  BIO_ctrl: 'long BIO_ctrl(uintptr_t bio, int command, long number, uintptr_t pointer)',
  PEM_read_bio_PrivateKey:
    'uintptr_t PEM_read_bio_PrivateKey(uintptr_t bio, uintptr_t key, uintptr_t callback, str password)',
  PEM_read_bio_X509: 'uintptr_t PEM_read_bio_X509(uintptr_t bio, uintptr_t to, uintptr_t callback, str password)',
  PEM_read_bio_X509_CRL:
    'uintptr_t PEM_read_bio_X509_CRL(uintptr_t bio, uintptr_t to, uintptr_t callback, str password)',
  EVP_PKEY_free: 'void EVP_PKEY_free(uintptr_t key)',
  X509_free: 'void X509_free(uintptr_t certificate)',
  X509_CRL_free: 'void X509_CRL_free(uintptr_t list)',
} as const;

/** The same functions with a text as pointer, and those that return a text. */
const textDeclarations = {
  contextControl: 'long SSL_CTX_ctrl(uintptr_t context, int command, long number, str text)',
  sessionControl: 'long SSL_ctrl(uintptr_t session, int command, long number, str text)',
} as const;

type Textual = 'ERR_reason_error_string' | 'SSL_CIPHER_get_name' | 'SSL_get0_group_name';

export type Openssl = {
  readonly [Name in Exclude<keyof typeof declarations, Textual>]: (...args: (number | string)[]) => number;
} & { readonly [Name in Textual]: (argument: number) => string | null } & {
  readonly [Name in keyof typeof textDeclarations]: (
    target: number,
    command: number,
    number: number,
    text: string,
  ) => number;
} & {
  /** A view of memory that OpenSSL owns. */
  view(address: number, length: number): ArrayBuffer;
  /** A function of ours that OpenSSL may call, on this thread only. */
  callback(prototype: string, handler: (...args: never[]) => unknown): number;
};

interface Koffi {
  load(path: null): { func(declaration: string): (...args: unknown[]) => unknown };
  view(address: bigint, length: number): ArrayBuffer;
  address(value: unknown): bigint;
  proto(text: string): unknown;
  pointer(type: unknown): unknown;
  register(callback: (...args: never[]) => unknown, type: unknown): unknown;
}

// 3.5 up to the next major version, whose structures may differ.
const minVersion = 0x30500000;
const maxVersion = 0x40000000;

const load = (): Openssl => {
  // Not a static import: the agent has to start where koffi does not load.
  const koffi = createRequire(import.meta.url)('koffi') as Koffi;
  const library = koffi.load(null);
  const declare = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).map(([name, declaration]) => [name, library.func(declaration)]));
  // A name can be declared once only.
  const prototypes = new Map<string, unknown>();
  const pointerTo = (prototype: string): unknown => {
    const known = prototypes.get(prototype) ?? koffi.pointer(koffi.proto(prototype));
    prototypes.set(prototype, known);
    return known;
  };
  return {
    ...(declare({ ...declarations, ...textDeclarations }) as unknown as Openssl),
    view: (address, length) => koffi.view(BigInt(address), length),
    callback: (prototype, handler) => Number(koffi.address(koffi.register(handler, pointerTo(prototype)))),
  };
};

let loaded: { readonly openssl: Openssl } | { readonly reason: string } | undefined;

const tryLoad = (): NonNullable<typeof loaded> => {
  const libc = findLibc();
  if ('reason' in libc) return libc;
  try {
    const openssl = load();
    const version = Number(openssl.OpenSSL_version_num());
    if (version >= minVersion && version < maxVersion) return { openssl };
    return { reason: `OpenSSL ${process.versions.openssl} of this Node.js is not 3.5 or a later 3.x` };
  } catch (error) {
    return { reason: `OpenSSL cannot be called directly: ${(error as Error).message.split('\n')[0]}` };
  }
};

/** OpenSSL, or why it cannot be called. */
export const findOpenssl = (): NonNullable<typeof loaded> => {
  loaded ??= tryLoad();
  return loaded;
};

/** Call only where `findOpenssl` has succeeded. */
export const requireOpenssl = (): Openssl => {
  const found = findOpenssl();
  if ('openssl' in found) return found.openssl;
  throw new Error(found.reason);
};
