module xlaffi_interface
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(c) :: xlaffi_attribute
    type(c_ptr) :: data
    integer(c_size_t) :: length
  end type
  type, bind(c) :: xlaffi_call
    integer(c_size_t) :: size
    type(c_ptr) :: buffers
    type(c_ptr) :: dims
    type(c_ptr) :: attributes
    type(c_ptr) :: state
    integer(c_int64_t) :: batch
    type(c_ptr) :: message
    integer(c_size_t) :: message_size
  end type
contains
  subroutine xlaffi_fail(this, code, text)
    type(xlaffi_call), intent(in) :: this
    integer(c_int32_t), intent(inout) :: code
    character(*), intent(in) :: text
    character(kind=c_char), pointer :: message(:)
    integer(c_size_t) :: i, length
    code = 3
    length = min(len(text, c_size_t), this%message_size - 1)
    call c_f_pointer(this%message, message, [this%message_size])
    do i = 1, length
      message(i) = text(i:i)
    end do
    if (this%message_size > 0) message(length + 1) = c_null_char
  end subroutine
  function xlaffi_text(attribute) result(text)
    type(xlaffi_attribute), intent(in) :: attribute
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer(c_size_t) :: i
    call c_f_pointer(attribute%data, characters, [attribute%length])
    allocate(character(len=attribute%length) :: text)
    do i = 1, attribute%length
      text(i:i) = characters(i)
    end do
  end function
end module
