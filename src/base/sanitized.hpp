#pragma once
/// Is this a build with a sanitizer, in which everything is 5 to 20 times slower and stacks that are switched by hand are not
/// followed?
namespace trencadis {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace trencadis
