// The types of `level` describe only methods that also exist in browsers, and `get` without `undefined`. In Node,
// `level` is LevelDB.
import type { GetManyOptions, GetOptions } from 'level'

declare module 'level' {
  interface Level<KDefault, VDefault> {
    get(key: KDefault): Promise<VDefault | undefined>
    get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>
    getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>
    getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>
    approximateSize<K = KDefault>(
      start: K,
      end: K,
      options?: Pick<GetOptions<K, never>, 'keyEncoding'>,
    ): Promise<number>
    compactRange<K = KDefault>(start: K, end: K, options?: Pick<GetOptions<K, never>, 'keyEncoding'>): Promise<void>
    getProperty(property: string): string
  }

  namespace Level {
    function destroy(location: string): Promise<void>
    function repair(location: string): Promise<void>
  }
}
