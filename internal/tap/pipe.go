package tap

// grownPipe is how large we make a pipe of ours when a message is larger than what
// pipes hold as the kernel makes them.
const grownPipe = 256 << 10
