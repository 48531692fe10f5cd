import { nkeys } from '@nats-io/transport-node'
import { randomUUID } from 'node:crypto'

type Pair = ReturnType<typeof nkeys.createUser>

const HEADER = { typ: 'JWT', alg: 'ed25519-nkey' }
const toPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A claim about `subject`, signed as NATS has it. */
function signed(issuer: Pair, subject: Pair, name: string, nats: object): string {
  const iat = Math.floor(Date.now() / 1_000)
  const claim = { jti: randomUUID(), iat, iss: issuer.getPublicKey(), name, sub: subject.getPublicKey(), nats }
  const text = `${toPart(HEADER)}.${toPart(claim)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

const ANY = -1
const limits = {
  subs: ANY,
  data: ANY,
  payload: ANY,
  imports: ANY,
  exports: ANY,
  wildcards: true,
  conn: ANY,
  leaf: ANY,
  mem_storage: ANY,
  disk_storage: ANY,
  streams: ANY,
  consumer: ANY,
}
const system = { ...limits, mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 }

/** Servers that know an operator and one account of his. */
export function createOperator() {
  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const own = nkeys.createAccount()
  const accountOf = (pair: Pair, name: string, given: object) =>
    `${pair.getPublicKey()}: ${signed(operator, pair, name, { limits: given, type: 'account', version: 2 })}`
  return {
    config: [
      `operator: ${signed(operator, operator, 'operator', { type: 'operator', version: 2 })}`,
      `system_account: ${own.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${accountOf(account, 'app', limits)}\n ${accountOf(own, 'SYS', system)} }`,
    ].join('\n'),
    /** What the file of one of its users holds. @param by another account, which servers do not know */
    userFile(by: Pair = account): string {
      const user = nkeys.createUser()
      const jwt = signed(by, user, 'node', { subs: ANY, data: ANY, payload: ANY, type: 'user', version: 2 })
      return (
        `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed())}\n------END USER NKEY SEED------\n`
      )
    },
  }
}
