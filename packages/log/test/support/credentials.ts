import { nkeys } from '@nats-io/transport-node'
import { randomUUID } from 'node:crypto'

type KeyPair = ReturnType<typeof nkeys.createUser>

const HEADER = { typ: 'JWT', alg: 'ed25519-nkey' }
const toJwtPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns a claim about `subject`, signed in the format of NATS. */
function signClaim(issuer: KeyPair, subject: KeyPair, name: string, nats: object): string {
  const iat = Math.floor(Date.now() / 1_000)
  const claim = { jti: randomUUID(), iat, iss: issuer.getPublicKey(), name, sub: subject.getPublicKey(), nats }
  const text = `${toJwtPart(HEADER)}.${toJwtPart(claim)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

const UNLIMITED = -1
const limits = {
  subs: UNLIMITED,
  data: UNLIMITED,
  payload: UNLIMITED,
  imports: UNLIMITED,
  exports: UNLIMITED,
  wildcards: true,
  conn: UNLIMITED,
  leaf: UNLIMITED,
  mem_storage: UNLIMITED,
  disk_storage: UNLIMITED,
  streams: UNLIMITED,
  consumer: UNLIMITED,
}
const system = { ...limits, mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 }

/** Creates an operator with one account, which servers know. */
export function createOperator() {
  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const systemAccount = nkeys.createAccount()
  const toAccount = (pair: KeyPair, name: string, accountLimits: object) =>
    `${pair.getPublicKey()}: ${signClaim(operator, pair, name, { limits: accountLimits, type: 'account', version: 2 })}`
  return {
    config: [
      `operator: ${signClaim(operator, operator, 'operator', { type: 'operator', version: 2 })}`,
      `system_account: ${systemAccount.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${toAccount(account, 'app', limits)}\n ${toAccount(systemAccount, 'SYS', system)} }`,
    ].join('\n'),
    /** Returns the content of a user's credentials file. @param by another account, which servers do not know */
    createUserFile(by: KeyPair = account): string {
      const user = nkeys.createUser()
      const jwt = signClaim(by, user, 'node', {
        subs: UNLIMITED,
        data: UNLIMITED,
        payload: UNLIMITED,
        type: 'user',
        version: 2,
      })
      return (
        `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed())}\n------END USER NKEY SEED------\n`
      )
    },
  }
}
