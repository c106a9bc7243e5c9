import { hkdfSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import type { TlsClientSettings, TlsServerSettings, TlsVersion } from '@rushhour/protocol';
import { scratch } from '../kernel/memory.ts';
import type { ClientOffer } from '../tls/client-offer.ts';
import { forgetKeys, listenForKeys, type OnKeyLine } from './key-log.ts';
import { type Openssl, requireOpenssl } from './library.ts';
import { forgetLimit, limitRecords, maxRecordBytes } from './record-limit.ts';

const control = {
  extraChainCertificate: 14,
  mode: 33,
  sessionCache: 44,
  ticketKeys: 59,
  statusType: 65,
  groups: 92,
  signatures: 98,
  minVersion: 123,
  maxVersion: 124,
} as const;
const option = { legacyServers: 1 << 2, noTicket: 1 << 14, noAntiReplay: 1 << 24, noRenegotiation: 1 << 30 } as const;
/** Writes may come from other memory when repeated; idle sessions keep no buffers. */
const mode = 0x2 | 0x10;
const verify = { peer: 1, failWithout: 2 } as const;
const crlCheck = 4;
const ticketKeyBytes = 80;
const maxEarlyDataBytes = 16_384;
/** TLSEXT_STATUSTYPE_ocsp. */
const ocspStatus = 1;
const wireVersion = { '1.2': 0x303, '1.3': 0x304 } as const;

/** Settings that OpenSSL refuses, such as an unknown cipher or a key of another certificate. */
export class TlsSettingsError extends Error {
  readonly code = 'CONFIG_INVALID';
}

const reasonOf = (openssl: Openssl): string => {
  const reason = openssl.ERR_reason_error_string(openssl.ERR_get_error());
  openssl.ERR_clear_error();
  return reason ?? 'unknown reason';
};

/** All objects of one kind in PEM. */
const readAll = (openssl: Openssl, text: string, read: (bio: number) => number): number[] => {
  const bio = openssl.BIO_new(openssl.BIO_s_mem());
  openssl.BIO_puts(bio, text);
  const found: number[] = [];
  for (let next = read(bio); next !== 0; next = read(bio)) found.push(next);
  openssl.BIO_free(bio);
  // The end of the text is an error, too.
  openssl.ERR_clear_error();
  return found;
};

const certificatesIn = (openssl: Openssl, text: string): number[] =>
  readAll(openssl, text, (bio) => openssl.PEM_read_bio_X509(bio, 0, 0, ''));

/** The names in the form of the extension: each after its length. */
const alpnBytes = (names: readonly string[]): Buffer =>
  Buffer.concat(names.flatMap((name) => [Buffer.of(Buffer.byteLength(name)), Buffer.from(name)]));

export interface TlsContextOptions {
  readonly alpn: readonly string[];
  /** Chain and key to present, as PEM. */
  readonly identity?: { readonly certificate: string; readonly privateKey: string } | undefined;
  /** Gets the secrets of sessions. */
  readonly onKeyLine?: OnKeyLine | undefined;
  /** For QUIC, which is always TLS 1.3 and has no early data here. */
  readonly isQuic?: boolean;
  /** Servers of TLS 1.2 without RFC 5746 are taken as well; there is no renegotiation in any case. */
  readonly allowsLegacyServers?: boolean;
  /** For clients whose first message is prescribed. */
  readonly offer?: ClientOffer | undefined;
}

/** Chain and key of the settings, if they have both. */
export const identityOf = ({ certificate, privateKey }: TlsClientSettings | TlsServerSettings) =>
  certificate !== undefined && privateKey !== undefined ? { certificate, privateKey } : undefined;

const methodOf = (openssl: Openssl, isServer: boolean, isQuic: boolean): number => {
  if (isQuic) return isServer ? openssl.OSSL_QUIC_server_method() : openssl.OSSL_QUIC_client_method();
  return isServer ? openssl.TLS_server_method() : openssl.TLS_client_method();
};

/** The settings of all TLS sessions of a transport. */
export class TlsContext {
  readonly address: number;
  readonly isServer: boolean;
  readonly settings: TlsClientSettings | TlsServerSettings;
  readonly #openssl = requireOpenssl();
  #isReleased = false;

  constructor(settings: TlsClientSettings | TlsServerSettings, options: TlsContextOptions, isServer: boolean) {
    this.settings = settings;
    this.isServer = isServer;
    const openssl = this.#openssl;
    this.address = openssl.SSL_CTX_new(methodOf(openssl, isServer, options.isQuic ?? false));
    try {
      this.#setProtocol();
      const { recordSizeLimit = isServer ? maxRecordBytes : undefined } = settings;
      if (recordSizeLimit !== undefined && !options.isQuic) limitRecords(this.address, recordSizeLimit);
      if (options.allowsLegacyServers) openssl.SSL_CTX_set_options(this.address, option.legacyServers);
      if (options.offer !== undefined) this.#setOffer(options.offer);
      if (options.identity !== undefined) this.#setIdentity(options.identity);
      if (options.alpn.length > 0) this.#setAlpn(options.alpn);
      this.#setSessions();
      this.#setTrust();
      if (options.onKeyLine !== undefined) listenForKeys(this.address, options.onKeyLine);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Sessions that still use the context keep it until they end. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    forgetKeys(this.address);
    forgetLimit(this.address);
    this.#openssl.SSL_CTX_free(this.address);
  }

  #require(result: number, what: string): void {
    if (result !== 1) throw new TlsSettingsError(`TLS: ${what}: ${reasonOf(this.#openssl)}`);
  }

  #setProtocol(): void {
    const openssl = this.#openssl;
    const { address, settings } = this;
    const versions = settings.versions.toSorted() as TlsVersion[];
    openssl.SSL_CTX_ctrl(address, control.minVersion, wireVersion[versions[0] as TlsVersion], 0);
    openssl.SSL_CTX_ctrl(address, control.maxVersion, wireVersion[versions.at(-1) as TlsVersion], 0);
    openssl.SSL_CTX_ctrl(address, control.mode, mode, 0);
    openssl.SSL_CTX_set_options(address, option.noRenegotiation);
    const { groups, ciphers } = settings;
    if (groups !== undefined)
      this.#require(openssl.contextControl(address, control.groups, 0, groups), `groups ${groups}`);
    if (ciphers === undefined) return;
    const names = ciphers.split(':');
    const suites = names.filter((name) => name.startsWith('TLS_'));
    const others = names.filter((name) => !name.startsWith('TLS_'));
    if (suites.length > 0)
      this.#require(openssl.SSL_CTX_set_ciphersuites(address, suites.join(':')), `ciphers ${ciphers}`);
    if (others.length > 0)
      this.#require(openssl.SSL_CTX_set_cipher_list(address, others.join(':')), `ciphers ${ciphers}`);
  }

  #setOffer({ signatures, options, asksStatus }: ClientOffer): void {
    const openssl = this.#openssl;
    const { address } = this;
    openssl.SSL_CTX_set_options(address, options);
    if (asksStatus) openssl.SSL_CTX_ctrl(address, control.statusType, ocspStatus, 0);
    if (signatures === undefined) return;
    const result = openssl.contextControl(address, control.signatures, 0, signatures);
    this.#require(result, `signatures ${signatures}`);
  }

  #setIdentity({ certificate, privateKey }: NonNullable<TlsContextOptions['identity']>): void {
    const openssl = this.#openssl;
    const [leaf, ...chain] = certificatesIn(openssl, certificate);
    if (leaf === undefined) throw new TlsSettingsError('TLS: there is no certificate in the PEM text');
    this.#require(openssl.SSL_CTX_use_certificate(this.address, leaf), 'certificate');
    openssl.X509_free(leaf);
    // The context takes these over.
    for (const issuer of chain) openssl.SSL_CTX_ctrl(this.address, control.extraChainCertificate, 0, issuer);
    const bio = openssl.BIO_new(openssl.BIO_s_mem());
    openssl.BIO_puts(bio, privateKey);
    const key = openssl.PEM_read_bio_PrivateKey(bio, 0, 0, '');
    openssl.BIO_free(bio);
    if (key === 0) throw new TlsSettingsError(`TLS: private key: ${reasonOf(openssl)}`);
    const result = openssl.SSL_CTX_use_PrivateKey(this.address, key);
    openssl.EVP_PKEY_free(key);
    this.#require(result, 'private key');
    this.#require(openssl.SSL_CTX_check_private_key(this.address), 'private key');
    if (this.isServer) this.#setTicketKeys(privateKey);
  }

  /** Derived from the private key, so that a session begun on one core can be resumed on another. */
  #setTicketKeys(privateKey: string): void {
    const keys = Buffer.from(hkdfSync('sha256', privateKey, '', 'rushhour session tickets', ticketKeyBytes));
    const memory = scratch();
    memory.bytes.set(keys);
    const address = memory.addressOf(0, ticketKeyBytes);
    this.#openssl.SSL_CTX_ctrl(this.address, control.ticketKeys, ticketKeyBytes, address);
    memory.bytes.fill(0, 0, ticketKeyBytes);
  }

  #setAlpn(names: readonly string[]): void {
    const openssl = this.#openssl;
    const wire = alpnBytes(names);
    if (this.isServer) {
      setAlpnSelection(openssl, this.address, names);
      return;
    }
    const memory = scratch();
    memory.bytes.set(wire);
    openssl.SSL_CTX_set_alpn_protos(this.address, memory.addressOf(0, wire.length), wire.length);
  }

  #setSessions(): void {
    const openssl = this.#openssl;
    const { address, settings } = this;
    openssl.SSL_CTX_ctrl(address, control.sessionCache, 0, 0);
    openssl.SSL_CTX_set_session_id_context(address, 'rushhour', 8);
    if (!('tickets' in settings)) return;
    if (!settings.tickets) {
      openssl.SSL_CTX_set_options(address, option.noTicket);
      openssl.SSL_CTX_set_num_tickets(address, 0);
    } else openssl.SSL_CTX_set_num_tickets(address, 1);
    if (!settings.earlyData) return;
    // Tickets are valid more than once and on every core, so early data can be replayed.
    openssl.SSL_CTX_set_options(address, option.noAntiReplay);
    openssl.SSL_CTX_set_max_early_data(address, maxEarlyDataBytes);
  }

  #setTrust(): void {
    const openssl = this.#openssl;
    const { address, settings } = this;
    if ('verify' in settings) {
      if (!settings.verify) return;
      this.#trust(settings.ca ?? rootCertificates.join('\n'));
      openssl.SSL_CTX_set_verify(address, verify.peer, 0);
    } else if (settings.requestClientCertificate) {
      if (settings.ca === undefined) openssl.SSL_CTX_set_verify(address, verify.peer, acceptAnything(openssl));
      else {
        this.#trust(settings.ca);
        openssl.SSL_CTX_set_verify(address, verify.peer | verify.failWithout, 0);
      }
    }
  }

  /** Authorities and, where the text has them, lists of revoked certificates. */
  #trust(text: string): void {
    const openssl = this.#openssl;
    const store = openssl.SSL_CTX_get_cert_store(this.address);
    for (const certificate of certificatesIn(openssl, text)) {
      openssl.X509_STORE_add_cert(store, certificate);
      if (this.isServer) openssl.SSL_CTX_add_client_CA(this.address, certificate);
      openssl.X509_free(certificate);
    }
    if (!text.includes('BEGIN X509 CRL')) return;
    for (const list of readAll(openssl, text, (bio) => openssl.PEM_read_bio_X509_CRL(bio, 0, 0, ''))) {
      openssl.X509_STORE_add_crl(store, list);
      openssl.X509_CRL_free(list);
    }
    openssl.X509_STORE_set_flags(store, crlCheck);
  }
}

let accepting: number | undefined;

/** A verification that accepts every certificate. */
const acceptAnything = (openssl: Openssl): number => {
  accepting ??= openssl.callback('int RushhourVerify(int isValid, uintptr_t store)', () => 1);
  return accepting;
};

const selected = { ok: 0, fatal: 2 } as const;
const selections = new Map<string, number>();

/** The first name of the server that the client offers. */
const setAlpnSelection = (openssl: Openssl, context: number, names: readonly string[]): void => {
  const key = names.join('\n');
  const known = selections.get(key);
  const callback = known ?? createAlpnSelection(openssl, names);
  selections.set(key, callback);
  openssl.SSL_CTX_set_alpn_select_cb(context, callback, 0);
};

const createAlpnSelection = (openssl: Openssl, names: readonly string[]): number => {
  const own = names.map((name) => Buffer.from(name));
  const choose = (_ssl: number, to: number, lengthTo: number, offered: number, length: number): number => {
    const bytes = Buffer.from(openssl.view(offered, length));
    for (const name of own) {
      for (let at = 0; at < length; at += 1 + (bytes[at] as number)) {
        if (!bytes.subarray(at + 1, at + 1 + (bytes[at] as number)).equals(name)) continue;
        new DataView(openssl.view(to, 8)).setBigUint64(0, BigInt(offered + at + 1), true);
        new Uint8Array(openssl.view(lengthTo, 1))[0] = name.length;
        return selected.ok;
      }
    }
    return selected.fatal;
  };
  const prototype =
    'int RushhourAlpn(uintptr_t session, uintptr_t to, uintptr_t lengthTo, uintptr_t offered, uint length, uintptr_t data)';
  return openssl.callback(prototype, choose as never);
};
