import { Level } from 'level'

type GetOptions<K, V> = NonNullable<Parameters<Level<K, V>['get']>[1]>

/**
 * LevelDB whose synchronous reads are correct for every text key.
 *
 * `getSync` of classic-level 3.0.0 writes a text key into a buffer of fixed size. Only if the buffer is then completely
 * full, it assumes that the key does not fit. But a character of 2 to 4 bytes that does not fit is omitted, so that
 * some bytes of the buffer can remain free. Then LevelDB looks up a truncated key
 * (docs/upstream/classic-level-get-sync.md). A long key with one byte per character always fills the buffer. So ASCII
 * keys are read as text and others as bytes.
 */
export class Utf8Level<K = string, V = string> extends Level<K, V> {
  override getSync(key: K): V | undefined
  override getSync<Key = K, Value = V>(key: Key, options: GetOptions<Key, Value>): Value | undefined
  override getSync(key: unknown, options?: GetOptions<any, any>): unknown {
    // This check costs 40 ns. The read of a random key out of 1.5 million costs 2,500 ns.
    if (typeof key !== 'string' || Buffer.byteLength(key) === key.length) return super.getSync(key, options!)
    return super.getSync<Buffer, any>(Buffer.from(key), { ...options, keyEncoding: 'buffer' })
  }
}
