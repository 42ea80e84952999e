import { parseAbi } from 'viem'

/** Of the registry in version 1, as types need it; a test compares both with what the compiler says. */
export const registryAbi = parseAbi([
  'constructor(address owner_, address writer_)',
  'error CountWithoutRoot(uint64 count, bytes32 root)',
  'error NotOwner(address caller)',
  'error NotWriter(address caller)',
  'error WrongHead(bytes32 head, bytes32 given)',
  'event Anchored(uint64 indexed index, bytes32 indexed root, bytes32 indexed head, bytes32 prevHead, bytes32 headerHash, uint64 first, uint64 last, uint64 count)',
  'event WriterChanged(address indexed previous, address indexed current)',
  'function anchor(bytes32 prevHead, uint64 index, bytes32 root, bytes32 headerHash, uint64 first, uint64 last, uint64 count)',
  'function head() view returns (bytes32)',
  'function owner() view returns (address)',
  'function setWriter(address writer_)',
  'function writer() view returns (address)',
])

/** Of version 2. `head`, `owner`, `writer`, `setWriter` and `WriterChanged` are those of version 1. */
export const registryAbi2 = parseAbi([
  'struct Batch { bytes32 prevHead; uint64 index; bytes32 root; bytes32 headerHash; uint64 last; uint256[3] n; }',
  'constructor(address owner_, address writer_, address former, Batch from)',
  'error CountWithoutRoot(uint64 count, bytes32 root)',
  'error LastGoesBack(uint64 before, uint64 given)',
  'error NotNumbers(uint256 word, uint256 given)',
  'error NotOwner(address caller)',
  'error NotWriter(address caller)',
  'error NumberGoesBack(uint256 partition, uint256 before, uint256 given)',
  'error OwnerIsWriter(address account)',
  'error WrongHead(bytes32 head, bytes32 given)',
  'event Anchored(uint64 indexed index, bytes32 indexed root, bytes32 indexed head, bytes32 prevHead, bytes32 headerHash, uint64 first, uint64 last, uint64 count, uint256[3] before, uint256[3] n)',
  'event Began(address indexed former, bytes32 indexed head, Batch from)',
  'event WriterChanged(address indexed previous, address indexed current)',
  'function anchor(Batch prev, bytes32 root, bytes32 headerHash, uint64 last, uint256[3] n)',
  'function head() view returns (bytes32)',
  'function owner() view returns (address)',
  'function setWriter(address writer_)',
  'function writer() view returns (address)',
])
