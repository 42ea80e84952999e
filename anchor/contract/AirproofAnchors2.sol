// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Batches of air-quality readings, one after the other, with their numbers
/// @notice A chain of batches, and in each the last number of each of the sixteen partitions. `head`
/// is the hash of the last batch's record, and a call must show that record: so nothing can be left
/// out, inserted or anchored twice, and the contract itself sees that no number is taken back or
/// given twice. How many readings a batch holds follows from the numbers. The chain of batches may
/// go on from another contract's record: that of the version before, or one whose writer's key was
/// stolen.
contract AirproofAnchors2 {
    /// @notice The record of a batch. `head` is the hash of the last one.
    /// @param prevHead The head before it
    /// @param index From 1, one more each batch
    /// @param root Of the Merkle tree of its readings; zero for a heartbeat
    /// @param headerHash Of the batch header, which is published beside the readings
    /// @param last Last log sequence of the batch
    /// @param n For each partition the number of its last reading up to here: 40 bits each, six to a
    /// word, partition 6w + i at bits 40i of word w
    struct Batch {
        bytes32 prevHead;
        uint64 index;
        bytes32 root;
        bytes32 headerHash;
        uint64 last;
        uint256[3] n;
    }

    /// @notice Anvil, the chain of a demonstration, where one key may do everything.
    uint256 private constant DEMONSTRATION = 31337;

    /// @notice Hash of the last batch's record, which names the head before it, and so a hash over
    /// all batches. No head is valid for two deployments.
    bytes32 public head;

    /// @notice The only address that anchors. Zero stops anchoring until the owner names another.
    address public writer;

    /// @notice The only address that names the writer; it anchors nothing itself.
    address public immutable owner;

    /// @notice The chain of batches goes on here.
    /// @param former The contract that anchored `from`; zero where nothing was anchored before
    /// @param head The head from now on
    /// @param from The last batch that counts; all zero where there is none
    event Began(address indexed former, bytes32 indexed head, Batch from);

    /// @notice A batch was anchored.
    /// @param index Of the batch
    /// @param root Of the Merkle tree of its readings; zero for a heartbeat
    /// @param head The head from now on
    /// @param prevHead The head before
    /// @param headerHash Of the batch header
    /// @param first First log sequence of the batch
    /// @param last Last log sequence of the batch; `first` - 1 where it holds none
    /// @param count How many readings it holds: those with the numbers from `before` + 1 to `n`
    /// @param before The last numbers of the batch before
    /// @param n The last numbers of this one
    event Anchored(
        uint64 indexed index,
        bytes32 indexed root,
        bytes32 indexed head,
        bytes32 prevHead,
        bytes32 headerHash,
        uint64 first,
        uint64 last,
        uint64 count,
        uint256[3] before,
        uint256[3] n
    );

    /// @notice Another address anchors from now on.
    event WriterChanged(address indexed previous, address indexed current);

    error NotWriter(address caller);
    error NotOwner(address caller);
    /// @notice A stolen writer's key would own the contract for ever.
    error OwnerIsWriter(address account);
    /// @notice The call was made for another state of this contract than it has.
    error WrongHead(bytes32 head, bytes32 given);
    /// @notice A number was anchored already.
    error NumberGoesBack(uint256 partition, uint256 before, uint256 given);
    /// @notice A log sequence was anchored already.
    error LastGoesBack(uint64 before, uint64 given);
    /// @notice A word holds more than its numbers: six in words 0 and 1, four in word 2.
    error NotNumbers(uint256 word, uint256 given);
    /// @notice Readings without a root, or a root without readings.
    error CountWithoutRoot(uint64 count, bytes32 root);

    /// @param former The contract that anchored `from`; zero where nothing was anchored before
    /// @param from The record of the last batch that counts; all zero where there is none
    constructor(address owner_, address writer_, address former, Batch memory from) {
        owner = owner_;
        _name(owner_, writer_);
        _checkWords(from.n[0], from.n[1], from.n[2]);
        bytes32 origin = keccak256(
            abi.encode(block.chainid, address(this), former, keccak256(abi.encode(from)))
        );
        bytes32 beginning = keccak256(
            abi.encode(Batch(origin, from.index, from.root, from.headerHash, from.last, from.n))
        );
        head = beginning;
        emit Began(former, beginning, from);
    }

    /// @notice Anchors the batch after `prev`.
    /// @param prev The record whose hash `head` is
    /// @param n The last numbers of the new batch, as in `Batch`
    function anchor(
        Batch calldata prev,
        bytes32 root,
        bytes32 headerHash,
        uint64 last,
        uint256[3] calldata n
    ) external {
        if (msg.sender != writer) revert NotWriter(msg.sender);
        bytes32 prevHead = keccak256(abi.encode(prev));
        if (prevHead != head) revert WrongHead(head, prevHead);
        if (last < prev.last) revert LastGoesBack(prev.last, last);
        _checkWords(n[0], n[1], n[2]);
        uint64 count = _count(prev.n, n);
        if ((count == 0) != (root == 0)) revert CountWithoutRoot(count, root);
        uint64 index = prev.index + 1;
        // as the encoding of a `Batch`
        bytes32 next = keccak256(abi.encode(prevHead, index, root, headerHash, last, n));
        head = next;
        emit Anchored(
            index, root, next, prevHead, headerHash, prev.last + 1, last, count, prev.n, n
        );
    }

    /// @notice Names the address that anchors from now on.
    function setWriter(address writer_) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _name(owner, writer_);
    }

    function _name(address owner_, address writer_) private {
        if (owner_ == writer_ && block.chainid != DEMONSTRATION) revert OwnerIsWriter(owner_);
        emit WriterChanged(writer, writer_);
        writer = writer_;
    }

    function _checkWords(uint256 first, uint256 second, uint256 third) private pure {
        if (first >> 240 != 0) revert NotNumbers(0, first);
        if (second >> 240 != 0) revert NotNumbers(1, second);
        if (third >> 160 != 0) revert NotNumbers(2, third);
    }

    /// @return count How many numbers there are from `before` to `n`
    function _count(
        uint256[3] calldata before,
        uint256[3] calldata n
    ) private pure returns (uint64 count) {
        // sixteen differences below 2^40 each, and no number below what is taken from it
        unchecked {
            for (uint256 word = 0; word < 3; ++word) {
                uint256 was = before[word];
                uint256 now_ = n[word];
                for (uint256 partition = 6 * word; now_ != was; ++partition) {
                    uint256 a = was & 0xffffffffff;
                    uint256 b = now_ & 0xffffffffff;
                    if (b < a) revert NumberGoesBack(partition, a, b);
                    count += uint64(b - a);
                    was >>= 40;
                    now_ >>= 40;
                }
            }
        }
    }
}
