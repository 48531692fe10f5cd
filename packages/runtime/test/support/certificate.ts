import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A self-signed certificate and its key (PEM). */
export interface SelfSignedCertificate {
  readonly cert: string
  readonly key: string
}

/** ASN.1 in DER: a tag, a length, the parts. */
function encodeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]) => encodeDer(0x30, ...parts)
const set = (...parts: readonly Buffer[]) => encodeDer(0x31, ...parts)
const oid = (hex: string) => encodeDer(0x06, Buffer.from(hex, 'hex'))
const octets = (bytes: Buffer) => encodeDer(0x04, bytes)
const utcTime = (date: Date) =>
  encodeDer(0x17, Buffer.from(`${date.toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`))

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
const encodeName = (text: string) => sequence(set(sequence(oid('550403'), encodeDer(0x0c, Buffer.from(text)))))
const DER_TRUE = encodeDer(0x01, Buffer.from([0xff]))

/** Creates a certificate for `localhost` and 127.0.0.1. @param days validity, from yesterday on */
export function createSelfSigned(days = 30): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = encodeName(`test ${randomBytes(4).toString('hex')}`)
  const from = Date.now() - 86_400_000
  const validity = sequence(utcTime(new Date(from)), utcTime(new Date(from + days * 86_400_000)))
  const names = sequence(encodeDer(0x82, Buffer.from('localhost')), encodeDer(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = sequence(
    sequence(oid('551d11'), octets(names)),
    // A certificate authority may sign its own certificate.
    sequence(oid('551d13'), DER_TRUE, octets(sequence(DER_TRUE))),
  )
  const content = sequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, extensions),
  )
  const signature = encodeDer(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]))
  const lines = sequence(content, ECDSA_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}
