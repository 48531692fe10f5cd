import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A certificate that signs itself, and its key: PEM. */
export interface SelfSigned {
  readonly cert: string
  readonly key: string
}

/** ASN.1 in DER: a tag, a length, the parts. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts)
const set = (...parts: readonly Buffer[]) => der(0x31, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const octets = (bytes: Buffer) => der(0x04, bytes)
const utcTime = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`))

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
const nameOf = (text: string) => sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(text)))))
const YES = der(0x01, Buffer.from([0xff]))

/** For a program on this machine: `localhost` and 127.0.0.1. @param days that it is good for, from yesterday on */
export function selfSigned(days = 30): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf(`test ${randomBytes(4).toString('hex')}`)
  const from = Date.now() - 86_400_000
  const validity = sequence(utcTime(new Date(from)), utcTime(new Date(from + days * 86_400_000)))
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = sequence(
    sequence(oid('551d11'), octets(names)),
    // It may have signed itself.
    sequence(oid('551d13'), YES, octets(sequence(YES))),
  )
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]))
  const lines = sequence(content, ECDSA_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}
