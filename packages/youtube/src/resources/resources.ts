import { channelsResource } from './channels-resource.ts'
import type { ListResource } from '../lists/list-resource.ts'
import { playlistItemsResource } from './playlist-items-resource.ts'
import { playlistsResource } from './playlists-resource.ts'
import { videosResource } from './videos-resource.ts'

/** All resources of the stand-in. */
export const resources: readonly ListResource<any>[] = [
  videosResource,
  channelsResource,
  playlistsResource,
  playlistItemsResource,
]
